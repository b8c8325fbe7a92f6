//! The fast path of decoding: one pass over the JSON text that parses and checks each value.

use super::param::{Fill, Param, fill_absent};
use super::read::{ArgumentRules, read_arguments, refused_at};
use crate::error::ToolError;
use crate::schema::__private::{Arguments, ReadError, Reader, members_of};

/// Decodes the JSON text of a call's arguments into `slots`, one per parameter.
///
/// After `Ok`, every value conforms to the schema, and only parameters with a default may lack one.
///
/// # Errors
/// [`ErrorKind::InvalidJson`](crate::ErrorKind::InvalidJson) with the position, or
/// [`ErrorKind::InvalidArguments`](crate::ErrorKind::InvalidArguments) with every violation.
#[inline]
pub(crate) fn decode(
    text: &str,
    params: &[Param<'_>],
    rules: &ArgumentRules<'_>,
    slots: &mut [&mut dyn Fill],
) -> Result<(), ToolError> {
    match decode_directly(text, params, rules, slots) {
        Ok(()) => Ok(()),
        Err(_) => decode_read(text, params, rules, slots),
    }
}

/// Reads the arguments by the contract, and decodes the result.
#[cold]
fn decode_read(
    text: &str,
    params: &[Param<'_>],
    rules: &ArgumentRules<'_>,
    slots: &mut [&mut dyn Fill],
) -> Result<(), ToolError> {
    let object = read_arguments(text, rules)?;
    for (param, slot) in params.iter().zip(slots.iter_mut()) {
        fill_absent(param, *slot);
    }
    let mut refused = Vec::new();
    for (name, value) in members_of(&object).unwrap_or_default() {
        let Some(index) = params.iter().position(|param| param.name == name) else { continue };
        let (Some(param), Some(slot)) = (params.get(index), slots.get_mut(index)) else { continue };
        let mut reader = Reader::unchecked(value);
        match slot.fill(&mut reader) {
            // An optional argument may be sent as `null`.
            Err(_) if value == "null" && !param.required => {}
            Err(error) => refused.push(refused_at(&name, value, reader.offset(), &error)),
            Ok(()) => {}
        }
    }
    if refused.is_empty() { Ok(()) } else { Err(ToolError::invalid_arguments(refused)) }
}

/// Decodes `text` in one pass. Fails at the first fault; [`decode_read`] then reads `text` again.
fn decode_directly(
    text: &str,
    params: &[Param<'_>],
    rules: &ArgumentRules<'_>,
    slots: &mut [&mut dyn Fill],
) -> Result<(), ReadError> {
    let mut reader = rules.contract.reader(text);
    let mut arguments = Arguments::open(&mut reader)?;
    let mut given = 0;
    while let Some(index) = arguments.next_parameter()? {
        // A value that the contract refuses leaves its slot empty.
        if let Some(slot) = slots.get_mut(index) {
            slot.fill(arguments.reader())?;
        }
        given += 1;
    }
    if given < params.len() {
        for (index, (param, slot)) in params.iter().zip(slots).enumerate() {
            if !arguments.has(index) {
                fill_absent(param, *slot);
            }
        }
    }
    reader.end()
}
