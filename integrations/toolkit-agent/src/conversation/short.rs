//! Short JSON forms for what each run logs.

use crate::output::Spent;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Number, Value};
use toolkit_core::Content;
use toolkit_llm::{Usage, UserMessage};

/// Writes numbers as an array, without zeros at its end.
fn write<S: Serializer>(row: &[Number], serializer: S) -> Result<S::Ok, S::Error> {
    let last = row.iter().rposition(|number| number.as_f64() != Some(0.0));
    serializer.collect_seq(row.iter().take(last.map_or(0, |last| last + 1)))
}

/// Returns the count at `index` of a row, or 0 after its end.
fn count<T: TryFrom<u64> + Default, E: Error>(row: &[Number], index: usize) -> Result<T, E> {
    let Some(number) = row.get(index) else { return Ok(T::default()) };
    let count = number.as_u64().and_then(|count| T::try_from(count).ok());
    count.ok_or_else(|| E::custom(format_args!("{number} is no count")))
}

fn usage_row(usage: Usage) -> [Number; 6] {
    let counts = [
        usage.input_tokens,
        usage.output_tokens,
        usage.cached_input_tokens,
        usage.reasoning_tokens,
        usage.cache_write_tokens,
        usage.tool_tokens,
    ];
    counts.map(Number::from)
}

fn usage_of<E: Error>(row: &[Number]) -> Result<Usage, E> {
    let mut usage = Usage::new(count(row, 0)?, count(row, 1)?);
    usage.cached_input_tokens = count(row, 2)?;
    usage.reasoning_tokens = count(row, 3)?;
    usage.cache_write_tokens = count(row, 4)?;
    usage.tool_tokens = count(row, 5)?;
    Ok(usage)
}

/// Token counts.
pub(super) mod usage {
    use super::{Deserialize, Deserializer, Number, Serializer, Usage, usage_of, usage_row, write};

    pub(crate) fn serialize<S: Serializer>(usage: &Usage, serializer: S) -> Result<S::Ok, S::Error> {
        write(&usage_row(*usage), serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Usage, D::Error> {
        usage_of(&Vec::<Number>::deserialize(deserializer)?)
    }
}

/// The model calls, the tool calls, the seconds, the cost, and the token counts.
pub(super) mod spent {
    use super::{Deserialize, Deserializer, Number, Serializer, Spent, count, usage_of, usage_row, write};

    pub(crate) fn serialize<S: Serializer>(spent: &Spent, serializer: S) -> Result<S::Ok, S::Error> {
        // An attempt does not log that it was lost.
        let Spent { usage, cost, model_calls, tool_calls, seconds, lost_attempts: _ } = *spent;
        let cost = Number::from_f64(cost).unwrap_or_else(|| Number::from(0));
        let [a, b, c, d, e, f] = usage_row(usage);
        write(&[model_calls.into(), tool_calls.into(), seconds.into(), cost, a, b, c, d, e, f], serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Spent, D::Error> {
        let row = Vec::<Number>::deserialize(deserializer)?;
        Ok(Spent {
            model_calls: count(&row, 0)?,
            tool_calls: count(&row, 1)?,
            seconds: count(&row, 2)?,
            cost: row.get(3).and_then(Number::as_f64).unwrap_or_default(),
            usage: usage_of(row.get(4..).unwrap_or_default())?,
            lost_attempts: 0,
        })
    }
}

/// An input: its text, if it is nothing else.
pub(super) mod input {
    use super::{Content, Deserialize, Deserializer, Error, Serialize, Serializer, UserMessage, Value};

    pub(crate) fn serialize<S: Serializer>(input: &UserMessage, serializer: S) -> Result<S::Ok, S::Error> {
        match input.content.as_slice() {
            [Content::Text(text)] if !input.is_feedback => serializer.serialize_str(text),
            _ => input.serialize(serializer),
        }
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<UserMessage, D::Error> {
        match Value::deserialize(deserializer)? {
            Value::String(text) => Ok(text.into()),
            message => UserMessage::deserialize(message).map_err(D::Error::custom),
        }
    }
}
