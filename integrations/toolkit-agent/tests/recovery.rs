//! Recovery of conversations with a damaged log.

use serde::Deserialize;
use serde_json::json;
use std::sync::{Arc, Mutex};
use toolkit_agent::session::{
    ConversationKey, ConversationStore, MemoryStore, Save, SavedConversation, Summary,
};
use toolkit_agent::{Agent, AgentError, Conversation, Sessions};
use toolkit_core::schemars::JsonSchema;
use toolkit_core::{ClosureTool, ToolRegistry};
use toolkit_llm::ScriptedModel;

const KEY: ConversationKey<'_> = ConversationKey { user: "ada", id: "1" };

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "toolkit_core::schemars")]
struct Amount {
    amount: u64,
}

fn agent(paid: &Arc<Mutex<Vec<u64>>>, model: ScriptedModel) -> Agent {
    let paid = paid.clone();
    let pay = move |Amount { amount }: Amount| {
        paid.lock().unwrap().push(amount);
        "paid"
    };
    let tools = ToolRegistry::from_tools([ClosureTool::new("pay", "Pays.", pay).unwrap()]).unwrap();
    Agent::builder(model).tools(tools).build().unwrap()
}

/// Returns the saves of a conversation with two runs, each with a payment.
async fn saves() -> Vec<String> {
    let store = MemoryStore::new();
    let saved = Sessions::new(store.clone()).user("ada").conversation("1");
    for amount in [1, 2] {
        let model = ScriptedModel::new().call("pay", json!({"amount": amount}).to_string()).text("Paid.");
        let run = agent(&Arc::default(), model);
        run.run(format!("Pay {amount}.")).on(&saved).await.unwrap();
    }
    store.load(KEY).await.unwrap().unwrap().entries
}

async fn stored(saves: &[String]) -> (MemoryStore, SavedConversation) {
    let store = MemoryStore::new();
    let mut version = 0;
    let summary = Summary::default();
    for (first, save) in (0..).zip(saves) {
        let save = Save::new(version, save, &summary).with_first(first);
        version = store.append(KEY, save).await.unwrap();
    }
    let saved = Sessions::new(store.clone()).user("ada").conversation("1");
    (store, saved)
}

async fn opened(saves: &[String]) -> Conversation {
    stored(saves).await.1.open().await.unwrap()
}

/// Returns a save that is cut in its middle, and copies with one flipped bit.
fn damages(save: &str) -> Vec<String> {
    let mut damages = vec![save[..save.len() / 2].to_owned()];
    for (index, _) in save.char_indices().step_by(29) {
        for bit in [0, 2, 4, 6] {
            let mut bytes = save.as_bytes().to_vec();
            bytes[index] ^= 1 << bit;
            damages.extend(String::from_utf8(bytes));
        }
    }
    damages
}

#[tokio::test]
async fn the_saves_before_a_damaged_one_are_recovered() {
    let saves = saves().await;
    assert!(stored(&saves).await.1.recover().await.unwrap().is_none());
    let mut found = 0;
    for damaged in 0..saves.len() {
        let sound = opened(&saves[..damaged]).await;
        for damage in damages(&saves[damaged]) {
            let mut log = saves.clone();
            log[damaged] = damage;
            let (store, saved) = stored(&log).await;
            // Without a checksum, a flipped bit in a text is another text.
            let Some(recovery) = saved.recover().await.unwrap() else {
                saved.open().await.unwrap();
                continue;
            };
            let error = saved.open().await.unwrap_err().to_string();
            assert!(error.ends_with(&recovery.error), "{error} {}", recovery.error);
            let lost = recovery.lost_saves;
            // A damaged number may look sound until the next save.
            assert!(lost == saves.len() - damaged || lost + 1 == saves.len() - damaged, "{lost} {damaged}");
            if lost == saves.len() - damaged {
                found += 1;
                assert_eq!(recovery.conversation().messages(), sound.messages());
                let before = store.load(KEY).await.unwrap().unwrap();
                recovery.replace().await.unwrap();
                assert_ne!(store.load(KEY).await.unwrap().unwrap(), before);
                assert_eq!(saved.open().await.unwrap().messages(), sound.messages());
                assert!(saved.recover().await.unwrap().is_none());
            }
        }
    }
    assert!(found > 100, "{found}");
}

#[tokio::test]
async fn the_saves_before_a_missing_one_are_recovered() {
    let saves = saves().await;
    for missing in 0..saves.len() - 1 {
        let mut log = saves.clone();
        log.remove(missing);
        let (_, saved) = stored(&log).await;
        let recovery = saved.recover().await.unwrap().unwrap();
        assert_eq!(recovery.lost_saves, saves.len() - missing - 1);
        assert!(recovery.error.contains("is missing"), "{}", recovery.error);
        let sound = opened(&saves[..missing]).await;
        assert_eq!(recovery.conversation().messages(), sound.messages());
        recovery.replace().await.unwrap();
        assert_eq!(saved.open().await.unwrap().messages(), sound.messages());
    }
}

#[tokio::test]
async fn a_recovery_tells_which_calls_may_have_run_and_these_wait() {
    let saves = saves().await;
    let second = saves.iter().position(|save| save.contains("Pay 2.")).unwrap();
    // The save with the call is cut, the one with the result is whole.
    let call = saves.iter().rposition(|save| save.contains("\"started\"")).unwrap();
    assert!(call > second);
    let mut log = saves.clone();
    let after_call = log[call].find("\"started\"").unwrap();
    log[call].truncate(after_call);
    let (store, saved) = stored(&log).await;
    store.put(KEY, "later", "{}").await.unwrap();
    let recovery = saved.recover().await.unwrap().unwrap();
    let calls: Vec<_> = recovery.calls.iter().map(|earlier| earlier.call.arguments.to_string()).collect();
    assert_eq!(calls, [r#"{"amount":2}"#]);
    recovery.replace().await.unwrap();
    assert_eq!(store.inbox(KEY).await.unwrap()[0].name, "later");
    let paid = Arc::default();
    let model = ScriptedModel::new().call("pay", r#"{"amount":2}"#).text("Paid.");
    let ended = agent(&paid, model).resume(&saved).await.map_err(AgentError::from);
    let Err(AgentError::Interrupted { pending, .. }) = ended else { panic!("{ended:?}") };
    assert_eq!(
        pending[0].reason.to_string(),
        "waits for approval: it may have run before, in a part of the conversation that is no longer here:\n- with \
         {\"amount\":2}"
    );
    assert_eq!(*paid.lock().unwrap(), Vec::<u64>::new());
}

#[tokio::test]
async fn an_open_call_before_the_damage_may_have_run() {
    let saves = saves().await;
    let result = saves.iter().position(|save| save.contains("\"result\"")).unwrap();
    let mut log = saves[..=result].to_vec();
    log[result] = "not JSON".to_owned();
    let (_, saved) = stored(&log).await;
    let recovery = saved.recover().await.unwrap().unwrap();
    let calls: Vec<_> = recovery.calls.iter().map(|earlier| earlier.id.as_str()).collect();
    assert_eq!(calls, ["1.1.0"]);
    recovery.replace().await.unwrap();
    let paid = Arc::default();
    let output = agent(&paid, ScriptedModel::new().text("Hm.")).resume(&saved).await.unwrap();
    let result = output.messages[2].to_text();
    assert!(result.starts_with("Tool `pay` was started, but the program stopped"), "{result}");
    assert_eq!(*paid.lock().unwrap(), Vec::<u64>::new());
}

#[tokio::test]
async fn a_recovery_does_not_overwrite_a_log_that_has_changed() {
    let mut log = saves().await;
    log.truncate(2);
    log[1] = "not JSON".to_owned();
    let (store, saved) = stored(&log).await;
    let recovery = saved.recover().await.unwrap().unwrap();
    let version = store.load(KEY).await.unwrap().unwrap().version;
    store.append(KEY, Save::new(version, "{}", &Summary::default())).await.unwrap();
    let error = recovery.replace().await.unwrap_err();
    assert!(error.is_conflict(), "{error}");
    let nobody = Sessions::new(store).user("bob").conversation("1");
    assert!(nobody.recover().await.unwrap().is_none());
}
