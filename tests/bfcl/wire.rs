//! The calls through each provider's format: written as a response, read, dispatched.

use serde_json::Value;
use toolkit_ai::llm::ApiFormat;
use toolkit_ai::llm::StreamEvent;
use toolkit_ai::name::WireNames;
use toolkit_ai::{Dispatcher, ToolCall};

use crate::chance::Chance;
use crate::provider::{self, Asked};

/// The calls that arrived by format, and all calls.
#[derive(Default)]
pub(crate) struct WireTally {
    pub(crate) calls: usize,
    arrived: [(usize, usize); ApiFormat::ALL.len()],
    pub(crate) faults: Vec<String>,
}

impl WireTally {
    pub(crate) fn lines(&self) -> impl Iterator<Item = String> + '_ {
        ApiFormat::ALL.iter().zip(&self.arrived).map(|(format, (whole, streamed))| {
            format!("  {format}: {whole} of {0} arrived whole, {streamed} of {0} streamed", self.calls)
        })
    }

    pub(crate) fn arrived(&self) -> usize {
        self.arrived.iter().map(|(whole, streamed)| whole + streamed).sum()
    }

    pub(crate) fn expected(&self) -> usize {
        self.calls * 2 * ApiFormat::ALL.len()
    }
}

/// Sends a question's calls through all formats, with the same answers of tools.
pub(crate) async fn check(
    question: &str,
    dispatcher: &Dispatcher,
    calls: &[(String, Value)],
    tally: &mut WireTally,
) -> Result<(), String> {
    tally.calls += calls.len();
    let direct = answers(dispatcher, crate::question::calls(calls)).await;
    for (at, format) in ApiFormat::ALL.iter().copied().enumerate() {
        let names = dispatcher.registry().wire_names(&format);
        let asked: Vec<Asked> = calls
            .iter()
            .map(|(name, arguments)| Asked {
                name: names.spell(name).to_owned(),
                arguments: arguments.clone(),
            })
            .collect();
        let whole =
            format.parse_calls(&provider::whole(format, &asked)).map_err(|error| error.to_string())?;
        let mut chance = Chance::of(question);
        let streamed = read_stream(format, &provider::stream(format, &asked, &mut chance), &mut chance)?;
        let (as_whole, as_stream) = &mut tally.arrived[at];
        for (how, came, count) in [("whole", whole, as_whole), ("streamed", streamed, as_stream)] {
            let same = same_calls(&came, calls, &names);
            if same == calls.len() && answers(dispatcher, came).await == direct {
                *count += same;
            } else {
                tally.faults.push(format!("{question}: {format} {how}: {same} of {} arrived", calls.len()));
            }
        }
    }
    Ok(())
}

async fn answers(dispatcher: &Dispatcher, calls: Vec<ToolCall>) -> Vec<Result<String, String>> {
    let results = dispatcher.dispatch(calls).await;
    let text = |outcome: Result<toolkit_ai::ToolOutput, toolkit_ai::ToolError>| match outcome {
        Ok(output) => Ok(output.to_text().into_owned()),
        Err(error) => Err(error.message().to_owned()),
    };
    results.into_iter().map(|result| text(result.outcome)).collect()
}

/// The calls in the response's order. They arrive as they are completed.
fn read_stream(format: ApiFormat, body: &[u8], chance: &mut Chance) -> Result<Vec<ToolCall>, String> {
    let mut stream = format.accumulator();
    let mut events = Vec::new();
    for piece in chance.cut_bytes(body) {
        for event in stream.push_bytes(piece) {
            events.push(event.map_err(|error| error.to_string())?);
        }
    }
    let end = stream.finish();
    events.extend(end.events);
    let mut yielded: Vec<ToolCall> = events
        .into_iter()
        .filter_map(|event| if let StreamEvent::Call(call) = event { Some(call) } else { None })
        .collect();
    let in_order = format.parse_calls(&end.body).map_err(|error| error.to_string())?;
    yielded.sort_by_key(|call| in_order.iter().position(|other| other.id == call.id));
    Ok(yielded)
}

/// The number of calls with the right name and arguments.
fn same_calls(came: &[ToolCall], sent: &[(String, Value)], names: &WireNames) -> usize {
    if came.len() != sent.len() {
        return 0;
    }
    let same = |(call, (name, arguments)): &(&ToolCall, &(String, Value))| {
        names.unspell(&call.name) == name
            && serde_json::from_str::<Value>(call.arguments.as_str()).is_ok_and(|came| came == *arguments)
    };
    came.iter().zip(sent).filter(same).count()
}
