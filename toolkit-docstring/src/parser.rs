//! The parser, which reads each line once: as description, as a field such as `:param x:`, or as an entry
//! of a section.

use crate::builder::Builder;
use crate::description::Description;
use crate::fence::Fence;
use crate::lines::Line;
use crate::model::Docstring;
use crate::numpy;
use crate::prose::{Prose, split_colon};
use crate::section::Section;
use crate::sphinx::{self, Field, Tag};
use crate::title::{self, Kind, Style, Title};
use crate::type_spec::{TypeSpec, looks_like_type, split_type, type_name};

#[derive(Debug, Default)]
pub(crate) struct Parser<'a> {
    ahead: &'a [Line],
    section: Option<Section>,
    /// The level of the current heading for programmers, such as `# Panics`.
    hidden_level: Option<usize>,
    description: Description<'a>,
    builder: Builder,
}

impl<'a> Parser<'a> {
    pub(crate) fn parse(lines: &'a [Line]) -> Docstring {
        let mut parser = Self { ahead: lines, ..Self::default() };
        while let [line, ahead @ ..] = parser.ahead {
            parser.ahead = ahead;
            parser.step(line);
        }
        parser.builder.finish(parser.description.summary(), parser.description.text())
    }

    fn step(&mut self, line: &'a Line) {
        if self.hidden_level.is_some_and(|level| is_hidden(line, self.ahead, level)) {
            return;
        }
        self.hidden_level = None;
        if line.is_blank() || line.fence != Fence::Outside {
            self.description.keep(line);
        } else if let Some((field, height)) = Field::read(line) {
            self.field(line, field, height);
        } else if let Some(title) = title_at(line, self.ahead, self.section) {
            self.open(line, title);
        } else if let Some(section) = self.section
            && section.contains(line)
        {
            self.entry(line, section);
        } else {
            self.section = None;
            self.description.keep(line);
        }
    }

    fn open(&mut self, line: &'a Line, title: Title) {
        self.hidden_level = title::programmer_heading_level(&line.text);
        if self.hidden_level.is_some() {
            self.section = None;
            self.description.cut();
            return;
        }
        let (below, body) = self.ahead.split_at_checked(title.height() - 1).unwrap_or_default();
        self.ahead = body;
        self.section = Section::open(title, line, body);
        if self.section.is_some() {
            self.description.cut();
        } else {
            self.description.keep(line);
            for line in below {
                self.description.keep(line);
            }
        }
    }

    fn entry(&mut self, line: &'a Line, section: Section) {
        match section.kind {
            Kind::Params => self.param(line, section),
            Kind::Returns => self.returns(line, section),
            Kind::Raises => self.raises(line, section),
            Kind::Other => self.description.keep(line),
        }
    }

    fn param(&mut self, line: &'a Line, section: Section) {
        let Some(item) = section.item(line) else {
            if section.ends_with_prose(line) {
                self.section = None;
            }
            // `None.` means that there are no parameters.
            if line.text.trim_end_matches('.').eq_ignore_ascii_case("none") {
                self.description.cut();
            } else {
                self.description.keep(line);
            }
            return;
        };
        let section = section.after_entry(item.bulleted);
        self.section = Some(section);
        self.skip(item.height - 1);
        let (spec, description) = if section.style == Style::Numpy && !item.bulleted {
            numpy::split_type(item.text, self.body("", line, Body::Entry(section)))
        } else {
            (item.spec, self.body(item.text, line, Body::Entry(section)))
        };
        for name in item.names {
            self.builder.param(name, &spec, &description, line.number);
        }
    }

    fn returns(&mut self, line: &'a Line, section: Section) {
        self.section = Some(section.after_entry(false));
        let (ty, description) = if section.style == Style::Numpy {
            let (named_type, height) = line.read(without_name, |_, whole| looks_like_type(whole));
            self.skip(height - 1);
            let body = self.body("", line, Body::DeeperProse);
            let (spec, description) = numpy::split_type(named_type, body);
            (spec.ty, description)
        } else {
            let ((ty, text), height) =
                line.read(split_type, |(alone, _), (whole, _)| alone.is_none() && whole.is_some());
            self.skip(height - 1);
            (ty, self.body(text, line, Body::Returns(section)))
        };
        self.builder.returns(ty, &description, line.number);
    }

    fn raises(&mut self, line: &'a Line, section: Section) {
        self.section = Some(section.after_entry(false));
        let (ty, description) = if section.style == Style::Markdown {
            (None, self.body(&line.text, line, Body::Text(section)))
        } else {
            let (ty, text) = split_error(&line.text);
            (ty, self.body(text, line, Body::Error(section)))
        };
        self.builder.raises(ty, description, line.number);
    }

    fn field(&mut self, line: &'a Line, field: Field<'a>, height: usize) {
        self.section = self.section.filter(|section| section.contains(line));
        match field {
            Field::Known { tag, argument, text } => self.known_field(line, tag, argument, text, height),
            Field::Unclosed { keyword, after } => {
                self.reject(line, format!("`:{keyword}` is missing the colon after its {after}"));
            }
            Field::Misspelt { keyword, known } => {
                self.reject(line, format!("there is no field `:{keyword}`; did you mean `:{known}`?"));
            }
            Field::Unknown => self.description.keep(line),
        }
    }

    /// Reads a field whose type ends `height` lines below the start of `line`.
    fn known_field(&mut self, line: &'a Line, tag: Tag, argument: &'a str, text: &'a str, height: usize) {
        let named = sphinx::names(argument);
        if named.is_none() && matches!(tag, Tag::Param | Tag::ParamType) {
            return self.reject(
                line,
                match argument {
                    "" => "parameter field has no name; write `:param name: text`".to_owned(),
                    argument => format!("`{argument}` is not a valid parameter name"),
                },
            );
        }
        self.skip(height - 1);
        let description = self.body(text, line, Body::Field(self.section));
        let (names, spec) = named.unwrap_or_default();
        match tag {
            Tag::Param => {
                for name in names {
                    // A name after its type is on the last line of the type.
                    let below = if line.text.contains(name) { 0 } else { height - 1 };
                    self.builder.param(name, &spec, &description, line.number + below);
                }
            }
            Tag::ParamType => {
                let spec = TypeSpec::parse(&description);
                for name in names {
                    self.builder.param_type(name, &spec, line.number);
                }
            }
            Tag::Returns => self.builder.returns(type_name(argument), &description, line.number),
            Tag::ReturnType => self.builder.returns(type_name(&description), "", line.number),
            Tag::Raises => self.builder.raises(type_name(argument), description, line.number),
        }
    }

    /// Reports a malformed field such as `:param x text`, and keeps its line in the description.
    fn reject(&mut self, line: &'a Line, message: String) {
        self.builder.problem(line.number, message);
        self.description.keep(line);
    }

    fn skip(&mut self, count: usize) {
        self.ahead = self.ahead.get(count..).unwrap_or_default();
    }

    /// Consumes the lines that continue the entry at `first`, and returns its text, which begins with
    /// `text`.
    fn body(&mut self, text: &str, first: &Line, body: Body) -> String {
        let mut prose = Prose::new(text);
        let mut unseen = self.ahead;
        while let [line, after @ ..] = unseen {
            unseen = after;
            if line.is_blank() {
                continue;
            }
            if line.fence != Fence::Inside && !body.continues(line, after, first) {
                break;
            }
            prose.push(line);
            self.ahead = after;
        }
        self.description.cut();
        prose.finish()
    }
}

/// The lines below the first one of an entry or a field.
#[derive(Clone, Copy)]
enum Body {
    Entry(Section),
    /// The description below a type in a NumPy section.
    DeeperProse,
    Returns(Section),
    Error(Section),
    /// The text of a section without entries.
    Text(Section),
    Field(Option<Section>),
}

impl Body {
    fn continues(self, line: &Line, ahead: &[Line], first: &Line) -> bool {
        match self {
            Self::Entry(section) => continues_entry(line, ahead, first, section),
            Self::DeeperProse => is_deeper_prose(line, first),
            Self::Returns(section) => section.continues(line) && continues_text(line, ahead, first, section),
            Self::Error(section) => continues_error(line, ahead, first, section),
            Self::Text(section) => continues_text(line, ahead, first, section),
            Self::Field(section) => continues_field(line, ahead, first, section),
        }
    }
}

/// Returns whether the description omits a line below a heading for programmers.
///
/// The documentation of parameters, return value and errors is never omitted.
fn is_hidden(line: &Line, ahead: &[Line], level: usize) -> bool {
    if line.fence != Fence::Outside {
        return true;
    }
    if is_known_field(line) || title::heading_level(&line.text).is_some_and(|next| next <= level) {
        return false;
    }
    title_at(line, ahead, None).is_none_or(|title| title.kind == Kind::Other)
}

/// Parses `line` as a section title, unless it is an entry of the current section.
fn title_at(line: &Line, ahead: &[Line], section: Option<Section>) -> Option<Title> {
    let title = Title::parse(line, ahead.first())?;
    match section {
        Some(section) if section.has_entry_like(title, line) => None,
        Some(section) if section.kind == Kind::Params => Some(title),
        _ => title.outside_of_params(),
    }
}

/// Returns whether a field such as `:param x:`, a directive such as `.. note::`, or a section begins.
fn begins_block(line: &Line, ahead: &[Line], section: Option<Section>) -> bool {
    Field::read(line).is_some() || line.text.starts_with(".. ") || title_at(line, ahead, section).is_some()
}

fn continues_entry(line: &Line, ahead: &[Line], first: &Line, section: Section) -> bool {
    if is_deeper_prose(line, first) {
        return true;
    }
    !line.after_blank
        && line.fence == Fence::Outside
        && section.contains(line)
        && section.item(line).is_none()
        && title::inline_section(&line.text).is_none()
        && !begins_block(line, ahead, Some(section))
}

/// Returns whether `line` continues the error at `first`.
fn continues_error(line: &Line, ahead: &[Line], first: &Line, section: Section) -> bool {
    continues_entry(line, ahead, first, section)
        && (line.indent > first.indent || split_error(&line.text).0.is_none())
}

/// Returns whether `line` continues the text of a section without entries, such as `Returns:`, from
/// `first`.
fn continues_text(line: &Line, ahead: &[Line], first: &Line, section: Section) -> bool {
    (line.fence == Fence::Outside || line.indent > first.indent) && !begins_block(line, ahead, Some(section))
}

fn continues_field(line: &Line, ahead: &[Line], first: &Line, section: Option<Section>) -> bool {
    if line.indent > first.indent {
        if is_known_field(line) {
            return false;
        }
        let Some(title) = title_at(line, ahead, section) else { return true };
        return match title.kind {
            Kind::Params => false,
            Kind::Returns | Kind::Raises => !line.after_blank,
            Kind::Other => true,
        };
    }
    !line.after_blank
        && line.fence == Fence::Outside
        && section.is_none_or(|section| section.item(line).is_none())
        && matches!(title::inline_section(&line.text), None | Some(Kind::Other))
        && !begins_block(line, ahead, section)
}

fn is_deeper_prose(line: &Line, first: &Line) -> bool {
    line.indent > first.indent && !is_known_field(line)
}

fn is_known_field(line: &Line) -> bool {
    matches!(Field::read(line), Some((Field::Known { .. }, _)))
}

/// Returns the type in `name : type`, or the whole text.
fn without_name(text: &str) -> &str {
    split_colon(text).map_or(text, |(_, ty)| ty.trim())
}

/// Splits an error such as `ValueError: when it is empty` into its type and the text, which may be empty.
fn split_error(text: &str) -> (Option<String>, &str) {
    match split_type(text) {
        (None, text) if looks_like_type(text) => (type_name(text), ""),
        split => split,
    }
}
