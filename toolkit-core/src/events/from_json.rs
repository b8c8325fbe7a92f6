//! Deserializes events from their JSON.

use super::{CallEnd, CallStatus, EventCall, ToolEvent, ToolEventKind};
use crate::error::{ToolError, read_flat_error};
use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

impl<'de> Deserialize<'de> for ToolEvent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        EventMembers(Map::deserialize(deserializer)?).event().map_err(D::Error::custom)
    }
}

struct EventMembers(Map<String, Value>);

impl EventMembers {
    fn event(mut self) -> Result<ToolEvent, String> {
        let name: String = self.take("type")?;
        let since_1970 = Duration::from_millis(self.take("timestamp_ms")?);
        let time = SystemTime::UNIX_EPOCH.checked_add(since_1970).ok_or("`timestamp_ms` is too large")?;
        let members = Value::Object(self.0.clone());
        let mut call: EventCall = serde_json::from_value(members).map_err(|error| error.to_string())?;
        call.arguments = self.text("arguments")?;
        Ok(ToolEvent { time, call: Arc::new(call), kind: self.kind(&name)? })
    }

    fn kind(mut self, name: &str) -> Result<ToolEventKind, String> {
        Ok(match name {
            "tool.call" => ToolEventKind::Called,
            "tool.start" => ToolEventKind::Started {
                attempt: self.take("attempt")?,
                normal_arguments: self.text("normal_arguments")?,
            },
            "tool.waiting" => ToolEventKind::Waiting { resource: self.all()? },
            "tool.admitted" => {
                ToolEventKind::Admitted { waited: self.duration("waited_ms")?, resource: self.all()? }
            }
            "tool.rule" => ToolEventKind::RuleDecided(self.all()?),
            "tool.progress" => ToolEventKind::Progress {
                fraction: self.take("fraction")?,
                message: self.text("message")?.unwrap_or_default(),
            },
            "tool.approval_requested" => {
                ToolEventKind::ApprovalRequested { reason: self.text("reason")?.unwrap_or_default() }
            }
            "tool.approval_decided" => ToolEventKind::ApprovalDecided {
                approved: self.take("approved")?,
                waited: self.duration("waited_ms")?,
            },
            "tool.retry" => ToolEventKind::Retried {
                attempt: self.take("attempt")?,
                pause: self.duration("pause_ms")?,
                error: self.error()?.ok_or("`error` is missing")?,
            },
            name => {
                let status = CallStatus::ALL.into_iter().find(|status| status.event_name() == name);
                ToolEventKind::Ended(CallEnd {
                    status: status.ok_or_else(|| format!("`{name}` is no type of an event"))?,
                    duration: self.duration("duration_ms")?,
                    total: self.duration("total_ms")?,
                    attempts: self.take("attempts")?,
                    coerced: self.take::<Option<_>>("coerced")?.unwrap_or_default(),
                    output_bytes: self.take("output_bytes")?,
                    output: self.text("output")?,
                    error: self.error()?,
                })
            }
        })
    }

    /// Removes and reads a member. A missing member reads as `null`.
    fn take<T: DeserializeOwned>(&mut self, name: &str) -> Result<T, String> {
        let value = self.0.remove(name).unwrap_or_default();
        serde_json::from_value(value).map_err(|error| format!("`{name}`: {error}"))
    }

    /// Reads a value that the members make together.
    fn all<T: DeserializeOwned>(self) -> Result<T, String> {
        serde_json::from_value(Value::Object(self.0)).map_err(|error| error.to_string())
    }

    fn text(&mut self, name: &str) -> Result<Option<Arc<str>>, String> {
        Ok(self.take::<Option<String>>(name)?.map(Arc::from))
    }

    fn duration(&mut self, name: &str) -> Result<Duration, String> {
        let seconds = self.take::<f64>(name)? / 1_000.0;
        Duration::try_from_secs_f64(seconds).map_err(|error| format!("`{name}`: {error}"))
    }

    fn error(self) -> Result<Option<ToolError>, String> {
        read_flat_error(self.0).map_err(|error| error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::ToolCall;
    use crate::error::{ErrorKind, Violation, ViolationKind};
    use crate::events::{RuleDecision, RuleEffect, WaitResource};
    use proptest::prelude::*;
    use proptest::sample::select;
    use serde_json::json;

    fn text() -> impl Strategy<Value = String> {
        prop_oneof![Just(String::new()), "[ -~ü\n\"\\\\]{0,9}"]
    }

    fn duration() -> impl Strategy<Value = Duration> {
        prop_oneof![
            Just(Duration::ZERO),
            (0..1_000_000_u64, 0..1_000_000_000_u32).prop_map(|(s, n)| Duration::new(s, n))
        ]
    }

    fn error() -> impl Strategy<Value = ToolError> {
        let kinds = vec![ErrorKind::NotFound, ErrorKind::Failed, ErrorKind::Retry, ErrorKind::TimedOut];
        let plain = prop_oneof![
            (select(kinds), text()).prop_map(|(kind, text)| ToolError::new(kind, text)),
            text().prop_map(|text| ToolError::denied("pay", &text)),
            Just(ToolError::question("Which colour?")),
            Just(ToolError::deferred("pay")),
            prop::collection::vec(text(), 0..20).prop_map(|texts| {
                let violation = |text| Violation::new("a[0]", ViolationKind::WrongType, text);
                ToolError::invalid_arguments_and_more(texts.into_iter().map(violation).collect(), 2)
            }),
        ];
        (plain, any::<bool>(), any::<bool>(), any::<bool>()).prop_map(
            |(error, is_retryable, has_details, is_late)| {
                let error = error.with_retryable(is_retryable);
                let error = if is_late {
                    error.with_earlier_attempts(vec!["no".into(), "nor".into()])
                } else {
                    error
                };
                if has_details { error.with_details("why").with_stored_details(true) } else { error }
            },
        )
    }

    fn resource() -> impl Strategy<Value = WaitResource> {
        prop_oneof![
            (text(), prop::option::of(text()))
                .prop_map(|(parameter, value)| WaitResource::Lane { parameter, value }),
            Just(WaitResource::Exclusive),
            any::<usize>().prop_map(|limit| WaitResource::ToolPermit { limit }),
            any::<usize>().prop_map(|limit| WaitResource::DispatcherPermit { limit }),
        ]
    }

    fn rule_decision() -> impl Strategy<Value = RuleDecision> {
        let effect = select(vec![RuleEffect::Allow, RuleEffect::Deny, RuleEffect::Ask]);
        let [reason, read] = std::array::from_fn(|_| prop::option::of(text()));
        (effect, any::<Option<usize>>(), text(), reason, read).prop_map(
            |(effect, rule, description, reason, read)| {
                let normal_arguments = read.map(Arc::from);
                RuleDecision { effect, rule, description, reason, normal_arguments }
            },
        )
    }

    fn kind() -> impl Strategy<Value = ToolEventKind> {
        let end =
            (error(), duration(), duration(), any::<u32>(), prop::collection::vec(text(), 0..3), text())
                .prop_map(|(error, duration, total, attempts, coerced, output)| {
                    let error = Some(error).filter(|error| !error.message().starts_with('!'));
                    CallEnd {
                        status: CallStatus::from_error(error.as_ref()),
                        output: Some(output.into()).filter(|_| error.is_none() && attempts % 2 == 0),
                        error,
                        duration,
                        total,
                        attempts,
                        coerced,
                        output_bytes: 7,
                    }
                });
        let succeeded = (duration(), text()).prop_map(|(duration, text)| CallEnd {
            status: CallStatus::Success,
            error: None,
            duration,
            total: duration,
            attempts: 1,
            coerced: Vec::new(),
            output_bytes: text.len(),
            output: Some(text.into()),
        });
        prop_oneof![
            Just(ToolEventKind::Called),
            (any::<u32>(), text()).prop_map(|(attempt, text)| ToolEventKind::Started {
                attempt,
                normal_arguments: Some(text.into()).filter(|_| attempt % 2 == 0),
            }),
            resource().prop_map(|resource| ToolEventKind::Waiting { resource }),
            (resource(), duration())
                .prop_map(|(resource, waited)| ToolEventKind::Admitted { resource, waited }),
            rule_decision().prop_map(ToolEventKind::RuleDecided),
            (0.0..=1.0, text())
                .prop_map(|(fraction, text)| ToolEventKind::Progress { fraction, message: text.into() }),
            text().prop_map(|text| ToolEventKind::ApprovalRequested { reason: text.into() }),
            (any::<bool>(), duration())
                .prop_map(|(approved, waited)| ToolEventKind::ApprovalDecided { approved, waited }),
            (any::<u32>(), error(), duration()).prop_map(|(attempt, error, pause)| ToolEventKind::Retried {
                attempt,
                error,
                pause
            }),
            end.prop_map(ToolEventKind::Ended),
            succeeded.prop_map(ToolEventKind::Ended),
        ]
    }

    fn event() -> impl Strategy<Value = ToolEvent> {
        let call = (any::<u64>(), any::<usize>(), text(), prop::option::of(text()), prop::option::of(text()));
        (call, kind(), 0..10_000_000_000_000_u64).prop_map(
            |((batch, position, text, name, arguments), kind, time)| {
                let called = ToolCall::new(text.as_str(), text.clone(), "{}");
                ToolEvent {
                    time: SystemTime::UNIX_EPOCH + Duration::from_millis(time),
                    call: Arc::new(EventCall {
                        batch,
                        position,
                        call_id: called.id,
                        tool: called.name,
                        invocation_id: name.clone(),
                        agent_name: name.clone(),
                        call_reason: name,
                        arguments_bytes: 2,
                        arguments: arguments.map(Arc::from).filter(|_| kind == ToolEventKind::Called),
                    }),
                    kind,
                }
            },
        )
    }

    proptest! {
        #[test]
        fn an_event_is_read_as_it_was_written(event in event()) {
            let written = serde_json::to_string(&event).expect("an event is JSON");
            let read: ToolEvent = serde_json::from_str(&written).expect(&written);
            prop_assert_eq!(&read, &event);
            prop_assert_eq!(serde_json::to_string(&read).expect("an event is JSON"), written);
        }
    }

    #[test]
    fn an_unknown_event_is_refused() {
        let call = json!({"batch": 0, "position": 0, "call_id": "a", "tool": "t", "arguments_bytes": 2,
            "timestamp_ms": 1});
        for (changes, expected) in [
            (json!({"type": "tool.call"}), None),
            (json!({"type": "tool.dance"}), Some("`tool.dance` is no type of an event")),
            (json!({"type": "tool.start"}), Some("`attempt`: invalid type: null, expected u32")),
            (json!({"type": "tool.call", "timestamp_ms": -1}), Some("`timestamp_ms`: ")),
            (
                json!({"type": "tool.approval_decided", "approved": true, "waited_ms": -1.0}),
                Some("`waited_ms`: "),
            ),
        ] {
            let mut event = call.clone();
            for (name, value) in changes.as_object().expect("an object") {
                event[name] = value.clone();
            }
            let read = serde_json::from_value::<ToolEvent>(event).map_err(|error| error.to_string());
            match expected {
                None => assert!(read.is_ok(), "{read:?}"),
                Some(text) => assert!(read.as_ref().is_err_and(|error| error.starts_with(text)), "{read:?}"),
            }
        }
    }
}
