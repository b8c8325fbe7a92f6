//! A group of parallel agents keeps the work of its agents, whatever stops a run.

use super::model::{Part, Pausing};
use super::{Case, Said, Team, agent, case, drive};
use crate::support::transcript;
use proptest::prelude::*;
use std::sync::{Arc, Mutex};
use toolkit_agent::{Conversation, RunOptions};

/// Returns the requests of the model in each step.
async fn requests(case: &Case) -> Vec<Vec<Vec<String>>> {
    let model = Pausing::new(&case.script);
    let agent = agent(case, &model, &Arc::<Mutex<Vec<String>>>::default());
    let mut conversation = Conversation::new("1");
    let mut steps = Vec::new();
    let mut count = 0;
    for (index, step) in case.steps.iter().enumerate() {
        let begin = (!step.resumes || index == 0, step.stop);
        drive(&agent, &mut conversation, RunOptions::new(), begin, &mut Said::default()).await;
        if step.is_reloaded {
            let saved = serde_json::to_string(&conversation).unwrap();
            conversation = serde_json::from_str(&saved).unwrap();
        }
        let requests = model.requests();
        steps.push(requests[count..].iter().map(|request| transcript(&request.messages)).collect());
        count = requests.len();
    }
    steps
}

/// A failure ends the work of an agent in a group, but not that of an agent alone.
fn without_failures() -> impl Strategy<Value = Case> {
    let never_fails = |case: &Case| !case.script.iter().any(|part| matches!(part, Part::Fail));
    case().prop_filter("a part fails", never_fails)
}

proptest! {
    #![proptest_config(crate::support::cases(256))]

    #[test]
    fn an_agent_of_a_group_continues_like_an_agent_alone(case in without_failures()) {
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        runtime.block_on(async {
            let alone = requests(&Case { team: Team::Alone, ..case.clone() }).await;
            let group = requests(&Case { team: Team::Group, ..case.clone() }).await;
            prop_assert_eq!(alone, group);
            Ok(())
        })?;
    }
}
