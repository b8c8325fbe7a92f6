//! Evals: trials, scores, and the report.

#![allow(clippy::panic, clippy::unwrap_used)]

use serde::Deserialize;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::time::sleep;
use toolkit_agent::{Agent, AgentError, Limits};
use toolkit_core::schemars::JsonSchema;
use toolkit_core::{BuildError, ClosureTool, ToolCall, ToolError, ToolRegistry};
use toolkit_evals::{
    CallMatch, Eval, ExpectedAnswer, Judge, Report, Score, ScoreError, Scorer, Task, Transcript, Trial,
    TrialReport,
};
use toolkit_llm::model::Priced;
use toolkit_llm::record::{Recorder, Replay};
use toolkit_llm::{
    ChatModel, ModelError, ModelErrorKind, ModelRequest, ModelResponse, ModelRetry, Price, ScriptedModel,
    Usage,
};

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "toolkit_core::schemars")]
struct Nothing {}

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "toolkit_core::schemars")]
struct Add {
    a: i64,
    b: i64,
}

fn tools() -> ToolRegistry {
    let add = ClosureTool::new("add", "Adds.", |Add { a, b }: Add| a + b).unwrap();
    let fail = ClosureTool::new("fail", "Fails.", |_: Nothing| Err::<(), _>(ToolError::failed("no luck")));
    let mut tools = ToolRegistry::from_tools([add]).unwrap();
    tools.register(fail.unwrap()).unwrap();
    tools
}

fn agent(trial: Trial) -> Result<Agent, BuildError> {
    let limits = Limits::default().with_max_model_calls(4);
    Agent::builder(trial.model).tools(tools()).retry(ModelRetry::never()).limits(limits).build()
}

fn sum() -> Task {
    Task::new("sum", "What is 17 + 25?")
        .with_call("add", json!({"a": 17, "b": 25}))
        .with_answer_containing(["42"])
}

fn adds(arguments: &str) -> ScriptedModel {
    ScriptedModel::new().call("add", arguments).text("It is 42.")
}

/// Runs `sum`, and returns the names of passed and failed scores.
async fn scores(task: Task, model: impl ChatModel) -> (Vec<String>, Vec<String>) {
    let report = Eval::new([task]).model("m", model).run(agent).await;
    let trial = &report.trials[0];
    assert_eq!(trial.error, None);
    let (passed, failed): (Vec<_>, Vec<_>) = trial.scores.iter().partition(|score| score.passed);
    let names = |scores: Vec<&Score>| scores.into_iter().map(|score| score.scorer.clone()).collect();
    (names(passed), names(failed))
}

#[tokio::test]
async fn calls_are_compared_by_their_meaning() {
    let right = ["{\"a\": 17, \"b\": 25}", "{\"b\":25.0,\"a\":17}", "{\"a\": \"17\", \"b\": \"25\"}"];
    for arguments in right {
        assert_eq!(scores(sum(), adds(arguments)).await.1, [""; 0], "{arguments}");
    }
    for arguments in ["{\"a\": 25, \"b\": 17}", "{\"a\": 17}", "{", ""] {
        assert_eq!(scores(sum(), adds(arguments)).await.1, ["calls"], "{arguments}");
    }
    let silent = ScriptedModel::new().text("It is 42.");
    assert_eq!(scores(sum(), silent).await, (vec!["answer".to_owned()], vec!["calls".to_owned()]));
}

#[tokio::test]
async fn refused_calls_are_ignored_and_failed_calls_count() {
    let corrected = ScriptedModel::new()
        .call("add", "{\"a\": 17}")
        .then()
        .call("plus", "{}")
        .then()
        .call("add", "{\"a\": 17, \"b\": 25}")
        .text("It is 42.");
    assert_eq!(scores(sum(), corrected).await.1, [""; 0]);
    let failing = ScriptedModel::new().call("fail", "{}").text("No luck.");
    let task = Task::new("fail", "Try it.").with_call("fail", json!({}));
    assert_eq!(scores(task.clone(), failing.clone()).await.1, [""; 0]);
    let task = task.with_calls([]);
    assert_eq!(scores(task, ScriptedModel::new().call("fail", "{}").text("No luck.")).await.1, ["calls"]);
}

#[tokio::test]
async fn other_calls_are_allowed_on_request() {
    let two = || {
        ScriptedModel::new()
            .call("add", "{\"a\": 1, \"b\": 1}")
            .call("add", "{\"a\": 17, \"b\": 25}")
            .text("It is 42.")
    };
    assert_eq!(scores(sum(), two()).await.1, ["calls"]);
    assert_eq!(scores(sum().with_call_match(CallMatch::Subset), two()).await.1, [""; 0]);
}

#[tokio::test]
async fn answers_are_scored_by_rules_and_functions() {
    let task = || Task::new("t", "?");
    for (task, answer, passes) in [
        (task().with_answer(ExpectedAnswer::Equals("Yes.".to_owned())), " Yes.\n", true),
        (task().with_answer(ExpectedAnswer::Equals("Yes.".to_owned())), "Yes. Or no.", false),
        (task().with_answer(ExpectedAnswer::Json(json!({"n": 1}))), "It is {\"n\": 1.0}.", true),
        (task().with_answer(ExpectedAnswer::Json(json!({"n": 1}))), "It is {\"n\": 2}.", false),
        (task().with_check(|transcript| transcript.answer.len() < 5), "Yes.", true),
        (task().with_check(|transcript| transcript.answer.len() < 5), "Certainly.", false),
        (task().with_check(|transcript| Score::new(transcript.calls.is_empty(), "why")), "Yes.", true),
        (task(), "Anything.", false),
    ] {
        let report = Eval::new([task]).model("m", ScriptedModel::new().text(answer)).run(agent).await;
        assert_eq!(report.all_solved(), passes, "{answer}: {report}");
    }
}

#[tokio::test]
async fn a_failure_does_not_affect_other_trials() {
    #[derive(Clone)]
    enum Fault {
        Model,
        ModelPanics,
        Build,
        BuildPanics,
        CheckPanics,
        Scorer,
    }
    struct Refuses;
    impl Scorer for Refuses {
        fn name(&self) -> &str {
            "refuses"
        }

        async fn score(&self, task: &Task, _: &Transcript) -> Result<Score, ScoreError> {
            match task.id.as_str() {
                "bad" => Err(AgentError::Other("no opinion".to_owned()).into()),
                _ => Ok(true.into()),
            }
        }
    }
    let call = ToolCall::new("1", "add", r#"{"a": 17, "b": 25}"#);
    // The fault, its error, and the answers in its trial.
    for (fault, words, answers) in [
        (Fault::Model, "overloaded", 1),
        (Fault::ModelPanics, "panicked", 1),
        (Fault::Build, "no tools", 0),
        (Fault::BuildPanics, "panicked", 0),
        (Fault::CheckPanics, "panicked", 2),
        (Fault::Scorer, "scorer `refuses` failed: no opinion", 2),
    ] {
        for concurrency in [1, 3] {
            let model = ScriptedModel::new().fallback({
                let fault = fault.clone();
                let call = call.clone();
                move |request| {
                    let usage = Usage::new(100, 10);
                    if request.messages.len() == 1 {
                        return Ok(ModelResponse::calls([call.clone()]).with_usage(usage));
                    }
                    match (&fault, request.messages[0].to_text().as_str()) {
                        (Fault::Model, "bad") => Err(ModelError::from_status(400, "overloaded")),
                        (Fault::ModelPanics, "bad") => panic!("oh"),
                        _ => Ok(ModelResponse::text("done").with_usage(usage)),
                    }
                }
            });
            let build = {
                let fault = fault.clone();
                move |trial: Trial| match (&fault, trial.task.id.as_str()) {
                    (Fault::Build, "bad") => Err(AgentError::Other("no tools".to_owned())),
                    (Fault::BuildPanics, "bad") => panic!("oh"),
                    _ => Ok(agent(trial)?),
                }
            };
            let panics = matches!(fault, Fault::CheckPanics);
            let task = |id: &'static str| {
                Task::new(id, id).with_check(move |_| {
                    assert!(!(panics && id == "bad"), "oh");
                    true
                })
            };
            let mut eval =
                Eval::new(["one", "bad", "two"].map(task)).model("m", model).concurrency(concurrency);
            if matches!(fault, Fault::Scorer) {
                eval = eval.scorer(Refuses);
            }
            let report = eval.run(build).await;
            let ids: Vec<&str> = report.trials.iter().map(|trial| trial.task.as_str()).collect();
            assert_eq!(ids, ["one", "bad", "two"]);
            let solved: Vec<bool> = report.trials.iter().map(TrialReport::is_solved).collect();
            assert_eq!(solved, [true, false, true], "{report}");
            let error = report.trials[1].error.clone().unwrap_or_default();
            assert!(error.contains(words), "{error}");
            assert_eq!(report.summary("m").unwrap().errors, 1);
            let used = report.trials.iter().map(|trial| trial.usage.input_tokens);
            assert_eq!(used.collect::<Vec<_>>(), [200, answers * 100, 200]);
            let calls = report.trials.iter().map(|trial| trial.transcript.calls.len());
            assert_eq!(calls.collect::<Vec<_>>(), [1, usize::from(answers > 0), 1]);
        }
    }
}

#[tokio::test]
async fn each_trial_has_fresh_tools() {
    let build = |trial: Trial| {
        let count = AtomicUsize::new(0);
        let counter =
            ClosureTool::new("count", "", move |_: Nothing| count.fetch_add(1, Ordering::Relaxed) + 1)?;
        Agent::builder(trial.model).tools(ToolRegistry::from_tools([counter])?).build()
    };
    let model = ScriptedModel::new().fallback(|request| {
        Ok(match request.messages.len() {
            1 => ModelResponse::calls([ToolCall::new("c", "count", "{}")]),
            _ => ModelResponse::text(request.messages[2].to_text()),
        })
    });
    let task = Task::new("count", "Count.").with_answer(ExpectedAnswer::Equals("1".to_owned()));
    let report = Eval::new([task]).model("m", model).repetitions(3).run(build).await;
    assert!(report.all_solved(), "{report}");
    assert_eq!(report.summary("m").unwrap().trials, 3);
}

#[derive(Clone, Default)]
struct Counting {
    now: Arc<AtomicUsize>,
    most: Arc<AtomicUsize>,
}

impl ChatModel for Counting {
    fn name(&self) -> &str {
        "counting"
    }

    async fn respond(&self, _: ModelRequest) -> Result<ModelResponse, ModelError> {
        struct Leave(Arc<AtomicUsize>);
        impl Drop for Leave {
            fn drop(&mut self) {
                self.0.fetch_sub(1, Ordering::SeqCst);
            }
        }
        let now = self.now.fetch_add(1, Ordering::SeqCst) + 1;
        let _leave = Leave(self.now.clone());
        self.most.fetch_max(now, Ordering::SeqCst);
        sleep(Duration::from_millis(20)).await;
        Ok(ModelResponse::text("done"))
    }
}

#[tokio::test(start_paused = true)]
async fn trials_run_at_once_up_to_a_limit() {
    for (concurrency, most) in [(0, 1), (1, 1), (3, 3), (100, 8)] {
        let model = Counting::default();
        let tasks = ["a", "b", "c", "d"].map(|id| Task::new(id, "?"));
        let eval = Eval::new(tasks).model("m", model.clone()).repetitions(2).concurrency(concurrency);
        assert_eq!(eval.run(agent).await.trials.len(), 8);
        assert_eq!(model.most.load(Ordering::SeqCst), most, "{concurrency}");
    }
}

#[tokio::test(start_paused = true)]
async fn dropping_an_eval_stops_its_trials() {
    let model = Counting::default();
    let eval = Eval::new([Task::new("a", "?"), Task::new("b", "?")]).model("m", model.clone()).concurrency(2);
    let _ = tokio::time::timeout(Duration::from_millis(5), eval.run(agent)).await.unwrap_err();
    sleep(Duration::from_millis(1)).await;
    assert_eq!(model.now.load(Ordering::SeqCst), 0);
}

#[derive(Clone, Default)]
struct Hanging(Arc<AtomicUsize>);

impl ChatModel for Hanging {
    fn name(&self) -> &str {
        "hanging"
    }

    async fn respond(&self, _: ModelRequest) -> Result<ModelResponse, ModelError> {
        if self.0.fetch_add(1, Ordering::SeqCst) == 2 {
            std::future::pending::<()>().await;
        }
        Ok(ModelResponse::text("done").with_usage(Usage::new(100, 10)))
    }
}

fn six(path: &Path, model: &Hanging) -> Eval {
    let tasks = ["a", "b", "c"].map(|id| Task::new(id, "?").with_answer_containing(["done"]));
    Eval::new(tasks).model("m", model.clone()).repetitions(2).trials_file(path).unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_stopped_eval_keeps_its_trials() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trials.jsonl");
    let model = Hanging::default();
    let stopped = tokio::time::timeout(Duration::from_secs(1), six(&path, &model).run(agent)).await;
    assert!(stopped.is_err());
    // A killed process leaves a part of a line.
    let mut file = std::fs::OpenOptions::new().append(true).open(&path).unwrap();
    std::io::Write::write_all(&mut file, br#"{"task": {"id""#).unwrap();
    let report = six(&path, &model).run(agent).await;
    assert_eq!(model.0.load(Ordering::SeqCst), 3 + 4, "two of six are not asked again");
    assert!(report.all_solved() && report.file_error.is_none(), "{report}");
    let order: Vec<_> = report.trials.iter().map(|trial| (trial.repetition, trial.task.as_str())).collect();
    assert_eq!(order, [(1, "a"), (1, "b"), (1, "c"), (2, "a"), (2, "b"), (2, "c")]);
    let summary = report.summary("m").unwrap();
    assert_eq!((summary.trials, summary.usage), (6, Usage::new(600, 60)));
    let again = six(&path, &model).run(agent).await;
    assert_eq!(model.0.load(Ordering::SeqCst), 7);
    assert_eq!(serde_json::to_value(&again).unwrap(), serde_json::to_value(&report).unwrap());
}

#[tokio::test]
async fn a_trial_with_an_error_and_one_of_a_changed_task_run_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trials.jsonl");
    let model = ScriptedModel::new()
        .text("done")
        .error(ModelError::new(ModelErrorKind::Other, "gone"))
        .text("done")
        .text("done");
    let eval = async |answer: &str| {
        let changed = Task::new("changed", "?").with_answer_containing([answer]);
        let eval = Eval::new([changed, Task::new("fails", "?")]).model("m", model.clone());
        eval.trials_file(&path).unwrap().run(agent).await
    };
    assert_eq!(eval("done").await.summary("m").unwrap().errors, 1);
    assert!(eval("one").await.trials.iter().all(|trial| trial.error.is_none()));
    assert_eq!(model.remaining(), 0);
    std::fs::write(&path, "{\"id\": 1}\n").unwrap();
    let error = Eval::new([]).trials_file(&path).unwrap_err();
    assert!(error.to_string().contains("line 1 is no trial: missing field `task`"), "{error}");
}

#[tokio::test]
async fn tokens_of_failed_runs_are_counted() {
    let usage = Usage::new(1_000, 100);
    let call = move |_: &ModelRequest| {
        Ok(ModelResponse::calls([ToolCall::new("c", "add", "{\"a\": 1, \"b\": 1}")]).with_usage(usage))
    };
    for streaming in [false, true] {
        let build = move |trial: Trial| {
            let limits = Limits::default().with_max_model_calls(3);
            Agent::builder(trial.model).tools(tools()).limits(limits).streaming(streaming).build()
        };
        let model = ScriptedModel::new().fallback(call);
        let model = Priced::new(model, Price::per_million(1.0, 10.0));
        let report = Eval::new([Task::new("a", "?")]).model("m", model).run(build).await;
        let summary = report.summary("m").unwrap();
        assert_eq!((summary.errors, summary.model_calls, summary.tool_calls), (1, 3, 3));
        assert_eq!(summary.usage, Usage::new(3_000, 300));
        assert!((summary.cost - 0.006).abs() < 1e-12, "{}", summary.cost);
    }
}

#[tokio::test]
async fn a_judge_gets_the_transcript_and_decides() {
    let judge =
        ScriptedModel::new().text("I would say yes.").text(r#"{"reason": "No source.", "passed": false}"#);
    let task = sum().with_criteria("Names a source.");
    let report =
        Eval::new([task]).model("m", adds("{\"a\": 17, \"b\": 25}")).scorer(Judge::new(judge.clone()));
    let report = report.run(agent).await;
    let score = report.trials[0].scores.last().unwrap();
    assert_eq!((score.scorer.as_str(), score.passed, score.reason.as_str()), ("judge", false, "No source."));
    let asked: Value = serde_json::from_str(&judge.requests()[0].messages[0].to_text()).unwrap();
    assert_eq!(asked["criteria"], "Names a source.");
    assert_eq!(asked["answer"], "It is 42.");
    assert_eq!(asked["calls"][0]["result"], "42");
    assert_eq!(judge.remaining(), 0); // the first answer was not of the form
}

#[tokio::test]
async fn a_judge_without_a_decision_is_an_error() {
    let judge = ScriptedModel::new()
        .fallback(|_| Ok(ModelResponse::text("Hard to say.").with_usage(Usage::new(100, 10))));
    let tasks = [Task::new("a", "?"), Task::new("b", "?")];
    let model = ScriptedModel::new().fallback(|_| Ok(ModelResponse::text("done")));
    let report = Eval::new(tasks).model("m", model).scorer(Judge::new(judge.clone())).run(agent).await;
    assert_eq!(report.summary("m").unwrap().errors, 2);
    let judged = u64::try_from(judge.requests().len()).unwrap();
    assert!(judged > 2);
    assert_eq!(report.summary("m").unwrap().scorer_usage, Usage::new(100 * judged, 10 * judged));
    assert_eq!(report.summary("m").unwrap().usage, Usage::default());
    assert!(report.trials[0].error.as_ref().unwrap().starts_with("scorer `judge` failed: "), "{report}");
}

#[tokio::test]
async fn recorded_trials_replay() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sum.jsonl");
    let real = ScriptedModel::new().call("add", "{\"a\": 17, \"b\": 25}").text("It is 42.");
    let real = real.call("add", "{\"a\": 17, \"b\": 26}").text("It is 43.");
    let eval = |model: toolkit_llm::model::BoxModel| Eval::new([sum()]).model("m", model).repetitions(2);
    let solved = |report: &Report| report.summary("m").unwrap().solved;
    let recorded = eval(Recorder::new(real, &path).unwrap().boxed()).run(agent).await;
    assert_eq!(solved(&recorded), 1, "{recorded}");
    let replayed = eval(Replay::open(&path).unwrap().boxed()).run(agent).await;
    assert_eq!(solved(&replayed), 1, "{replayed}");
}

#[test]
fn tasks_are_json() {
    let line = r#"{"id":"a","question":"?","calls":[{"name":"x","arguments":{"n":1}},{"name":"y"}],"call_match":"sequence","answer":{"json":{"n":1}},"criteria":"kind","level":3}"#;
    let tasks = Task::from_json_lines(&format!("{line}\n\n{}", line.replace("\"a\"", "\"b\""))).unwrap();
    assert_eq!(tasks.len(), 2);
    assert_eq!(tasks[0].data["level"], 3);
    assert_eq!(serde_json::to_string(&tasks[0]).unwrap(), line);
    let twice = Task::from_json_lines(&format!("{line}\n{line}")).unwrap_err();
    assert_eq!(twice.to_string(), "task 2: there is another task `a`");
    assert!(Task::from_json_lines("{\"id\": 1}").unwrap_err().to_string().starts_with("task 1: "));
    assert!(Task::from_json_lines(" \n").unwrap().is_empty());
}

#[test]
fn misspelled_members_and_paths_are_no_tasks() {
    for (members, expected) in [
        ("\"criterias\":\"kind\"", "there is no member `criterias`; did you mean `criteria`?"),
        ("\"call\":[]", "there is no member `call`; did you mean `calls`?"),
        ("\"callMatch\":\"set\"", "there is no member `callMatch`; did you mean `call_match`?"),
        ("\"calls\":[{\"name\":\"x\",\"args\":{}}]", "unknown field `args`, expected `name` or `arguments`"),
    ] {
        let line = format!("{{\"id\":\"a\",\"question\":\"?\",{members}}}");
        let error = Task::from_json_lines(&line).unwrap_err().to_string();
        assert!(error.starts_with(&format!("task 1: {expected}")), "{error}");
    }
    let data = "{\"id\":\"a\",\"question\":\"?\",\"answer_language\":\"no\",\"level\":3}";
    assert_eq!(Task::from_json_lines(data).unwrap()[0].data.len(), 2);
    let error = Task::from_json_lines("tasks.jsonl").unwrap_err().to_string();
    assert_eq!(error, "`tasks.jsonl` is no text of tasks; if it is the path of a file, read the file first");
}

#[tokio::test]
async fn an_eval_with_a_problem_runs_no_trial() {
    let task = |id: &str| Task::new(id, "?").with_answer_containing(["done"]);
    let model = || ScriptedModel::new().fallback(|_| Ok(ModelResponse::text("done")));
    let polite = || task("a").with_criteria("polite");
    for (eval, expected) in [
        (Eval::new([]).model("m", model()), "- the eval has no tasks; give them to `Eval::new`\n"),
        (Eval::new([task("a")]), "- the eval has no models; add one with `Eval::model`\n"),
        (
            Eval::new(["a", "b", "a", "a"].map(task)).model("m", model()).model("m", model()),
            "- task `a` is there twice; rename one\n- model `m` is there twice; rename one\n",
        ),
        (
            Eval::new([polite()]).model("m", model()),
            "- task `a` has criteria, and the eval has no judge; add one with `Eval::scorer`\n",
        ),
    ] {
        let report = eval.run(agent).await;
        assert_eq!((report.to_string().as_str(), report.trials.len()), (expected, 0));
        assert!(!report.all_solved());
    }
    let judge = Judge::new(ScriptedModel::new().text(r#"{"reason": "", "passed": true}"#));
    let report = Eval::new([polite()]).model("m", model()).scorer(judge).run(agent).await;
    assert!(report.all_solved() && report.problems.is_empty(), "{report}");
    let unchecked = Eval::new([Task::new("a", "?")]).model("m", model()).run(agent).await.to_string();
    let expected = "- `a`, m, repetition 1: nothing was checked; the task has no expectations\n";
    assert!(unchecked.ends_with(expected), "{unchecked}");
}

#[tokio::test]
async fn the_report_is_a_table_and_json() {
    let good = adds("{\"a\": 17, \"b\": 25}").call("add", "{\"a\": 17, \"b\": 25}").text("It is 42.");
    let bad = ScriptedModel::new().text("It is 41.").error(ModelError::new(ModelErrorKind::Other, "gone"));
    let eval = Eval::new([sum()]).model("good", good).model("bad|", bad).repetitions(2);
    let mut report = eval.run(agent).await;
    for model in &mut report.models {
        model.duration = Duration::from_millis(1_250);
    }
    let expected = "\
| model | trials | solved | calls | answer | errors | model calls | tool calls | input tokens | output tokens | cost | seconds |
| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |
| good | 2 | 2 | 2 of 2 | 2 of 2 | 0 | 4 | 2 | 0 | 0 | 0.0000 | 1.2 |
| bad\\| | 2 | 0 | 0 of 2 | 0 of 2 | 1 | 2 | 0 | 0 | 0 | 0.0000 | 1.2 |

| solved | good | bad\\| |
| --- | --- | --- |
| sum | 2 of 2 | 0 of 2 |

- `sum`, bad|, repetition 1: `calls`: expected `add {\"a\":17,\"b\":25}`, got no such call; `answer`: expected `42` in the answer, got `It is 41.`
- `sum`, bad|, repetition 2: gone; `calls`: expected `add {\"a\":17,\"b\":25}`, got no such call; `answer`: expected `42` in the answer, got ``
";
    assert_eq!(report.to_string(), expected);
    let json = serde_json::to_value(&report).unwrap();
    assert_eq!(json["models"][0]["seconds"], 1.25);
    assert_eq!(json["trials"][0]["transcript"]["calls"][0]["result"], "42");
    assert_eq!(json["trials"][3]["error"], "gone");
}

#[tokio::test]
async fn aliases_and_defaults_do_not_matter() {
    #[derive(Deserialize, JsonSchema)]
    #[schemars(crate = "toolkit_core::schemars")]
    struct Search {
        #[allow(dead_code, reason = "only the schema matters")]
        query: String,
        #[serde(default)]
        #[allow(dead_code, reason = "only the schema matters")]
        limit: u32,
    }
    for arguments in [r#"{"query": "a"}"#, r#"{"query": "a", "limit": 0}"#] {
        let build = |trial: Trial| {
            let search = ClosureTool::new("search", "", |_: Search| "found")?;
            Agent::builder(trial.model).tools(ToolRegistry::from_tools([search])?).build()
        };
        let task = Task::new("a", "?").with_call("search", json!({"limit": 0, "query": "a"}));
        let model = ScriptedModel::new().call("search", arguments).text("done");
        let report = Eval::new([task]).model("m", model).run(build).await;
        assert!(report.all_solved(), "{arguments}: {report}");
    }
}
