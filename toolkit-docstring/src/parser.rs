//! One walk over the lines that sorts each into prose, fields and sections.

use crate::description::Description;
use crate::fence::Fence;
use crate::findings::Findings;
use crate::lines::Line;
use crate::model::Docstring;
use crate::numpy;
use crate::prose::{Prose, split_colon};
use crate::section::Section;
use crate::sphinx::{self, Field, Tag};
use crate::title::{self, Kind, Style, Title};
use crate::type_spec::{TypeSpec, looks_like_type, split_type, type_name};

/// The walk: what lies ahead, the section it is in, and what has come of the lines behind.
#[derive(Debug)]
pub(crate) struct Parser<'a> {
    ahead: &'a [Line],
    section: Option<Section>,
    /// The level of the heading, below one whose text is for programmers.
    aside: Option<usize>,
    description: Description<'a>,
    findings: Findings,
}

impl<'a> Parser<'a> {
    pub(crate) fn new(lines: &'a [Line]) -> Self {
        Self {
            ahead: lines,
            section: None,
            aside: None,
            description: Description::default(),
            findings: Findings::default(),
        }
    }

    pub(crate) fn run(mut self) -> Docstring {
        while let [line, ahead @ ..] = self.ahead {
            self.ahead = ahead;
            self.step(line);
        }
        self.findings.finish(self.description.summary(), self.description.text())
    }

    fn step(&mut self, line: &'a Line) {
        if self.aside.is_some_and(|level| is_aside(line, self.ahead, level)) {
            return;
        }
        self.aside = None;
        if line.is_blank() || line.fence != Fence::Outside {
            self.description.keep(line);
        } else if let Some(field) = Field::read(&line.text) {
            self.field(line, field);
        } else if let Some(title) = title_at(line, self.ahead, self.section) {
            self.open(line, title);
        } else if let Some(section) = self.section.filter(|section| section.holds(line)) {
            self.entry(line, section);
        } else {
            self.section = None;
            self.description.keep(line);
        }
    }

    fn open(&mut self, line: &'a Line, title: Title) {
        self.aside = title::heading_level(&line.text).filter(|_| title::is_for_programmers(&line.text));
        if self.aside.is_some() {
            self.section = None;
            self.description.cut();
            return;
        }
        let (below, body) = self.ahead.split_at_checked(title.height() - 1).unwrap_or_default();
        self.ahead = body;
        self.section = Section::below(title, line, body);
        if self.section.is_some() {
            self.description.cut();
        } else {
            self.description.keep(line);
            below.iter().for_each(|line| self.description.keep(line));
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
            self.keep_unless_void(line);
            return;
        };
        let section = section.after_entry(item.bulleted);
        self.section = Some(section);
        let belongs = |next: &Line, ahead: &[Line]| continues_entry(next, ahead, line, section);
        let (spec, description) = if section.style == Style::Numpy && !item.bulleted {
            numpy::settle(item.text, self.body("", belongs))
        } else {
            (item.spec, self.body(item.text, belongs))
        };
        for name in item.names {
            self.findings.param(name, &spec, &description, line.number);
        }
    }

    fn keep_unless_void(&mut self, line: &'a Line) {
        let says = line.text.trim_end_matches('.');
        if says.eq_ignore_ascii_case("none") {
            self.description.cut();
        } else {
            self.description.keep(line);
        }
    }

    fn returns(&mut self, line: &'a Line, section: Section) {
        self.section = Some(section.after_entry(false));
        let (ty, description) = if section.style == Style::Numpy {
            let body = self.body("", |next, _| is_deeper_prose(next, line));
            let named_type = split_colon(&line.text).map_or(line.text.as_str(), |(_, ty)| ty.trim());
            let (spec, description) = numpy::settle(named_type, body);
            (spec.ty, description)
        } else {
            let (ty, text) = split_type(&line.text);
            let belongs = |next: &Line, ahead: &[Line]| {
                section.holds_more(next) && runs_through(next, ahead, line, section)
            };
            (ty, self.body(text, belongs))
        };
        self.findings.returns(ty, &description, line.number);
    }

    fn raises(&mut self, line: &'a Line, section: Section) {
        self.section = Some(section.after_entry(false));
        let (ty, description) = if section.style == Style::Markdown {
            let belongs = |next: &Line, ahead: &[Line]| runs_through(next, ahead, line, section);
            (None, self.body(&line.text, belongs))
        } else {
            let (ty, text) = split_error(&line.text);
            let belongs = |next: &Line, ahead: &[Line]| {
                continues_entry(next, ahead, line, section)
                    && (next.indent > line.indent || split_error(&next.text).0.is_none())
            };
            (ty, self.body(text, belongs))
        };
        self.findings.raises(ty, description, line.number);
    }

    fn field(&mut self, line: &'a Line, field: Field<'a>) {
        if !self.section.is_some_and(|section| section.holds(line)) {
            self.section = None;
        }
        match field {
            Field::Known { tag, head, text } => self.known_field(line, tag, head, text),
            Field::Unclosed { keyword, place } => {
                let message = format!("`:{keyword}` lacks the colon after its {place}");
                self.findings.problem(line.number, message);
                self.description.keep(line);
            }
            Field::Unknown => self.description.keep(line),
        }
    }

    fn known_field(&mut self, line: &'a Line, tag: Tag, head: &'a str, text: &'a str) {
        let named = sphinx::names(head);
        if named.is_none() && matches!(tag, Tag::Param | Tag::ParamType) {
            let message = if head.is_empty() {
                "parameter field without a name".to_owned()
            } else {
                format!("`{head}` is not a parameter name")
            };
            self.findings.problem(line.number, message);
            self.description.keep(line);
            return;
        }
        let section = self.section;
        let text = self.body(text, |next, ahead| continues_field(next, ahead, line, section));
        let (names, spec) = named.unwrap_or_default();
        match tag {
            Tag::Param => {
                for name in names {
                    self.findings.param(name, &spec, &text, line.number);
                }
            }
            Tag::ParamType => {
                for name in names {
                    let spec = TypeSpec::read(&text);
                    self.findings.param_type(name, spec, line.number);
                }
            }
            Tag::Returns => self.findings.returns(type_name(head), &text, line.number),
            Tag::ReturnType => self.findings.returns(type_name(&text), "", line.number),
            Tag::Raises => self.findings.raises(type_name(head), text, line.number),
        }
    }

    /// Takes the lines that belong to an entry, the rest of its first line given, and leaves a cut in the description.
    fn body(&mut self, first: &str, belongs: impl Fn(&Line, &[Line]) -> bool) -> String {
        let mut prose = Prose::starting(first);
        let mut unseen = self.ahead;
        while let [line, after @ ..] = unseen {
            unseen = after;
            if line.is_blank() {
                continue;
            }
            if line.fence != Fence::Inside && !belongs(line, after) {
                break;
            }
            prose.push(line);
            self.ahead = after;
        }
        self.description.cut();
        prose.finish()
    }
}

/// Whether a line below a heading of this level, whose text is for programmers, is part of that text. What is
/// documented further down is not.
fn is_aside(line: &Line, ahead: &[Line], level: usize) -> bool {
    let ends = || {
        is_known_field(line)
            || title::heading_level(&line.text).is_some_and(|next| next <= level)
            || title_at(line, ahead, None).is_some_and(|title| title.kind != Kind::Other)
    };
    line.fence != Fence::Outside || !ends()
}

/// The title that begins at `line`, unless the open section says that it is none.
fn title_at(line: &Line, ahead: &[Line], section: Option<Section>) -> Option<Title> {
    let title = Title::read(line, ahead.first())?;
    let in_params = section.is_some_and(|section| section.kind == Kind::Params);
    Some(title)
        .filter(|title| !section.is_some_and(|section| section.claims(*title, line)))
        .and_then(|title| if in_params { Some(title) } else { title.outside_of_params() })
}

fn begins_anew(line: &Line, ahead: &[Line], section: Option<Section>) -> bool {
    Field::read(&line.text).is_some()
        || line.text.starts_with(".. ")
        || title_at(line, ahead, section).is_some()
}

fn continues_entry(line: &Line, ahead: &[Line], first: &Line, section: Section) -> bool {
    if is_deeper_prose(line, first) {
        return true;
    }
    let runs_on = !line.after_blank && line.fence == Fence::Outside && section.holds(line);
    runs_on
        && section.item(line).is_none()
        && !title::is_run_in(&line.text, |_| true)
        && !begins_anew(line, ahead, Some(section))
}

fn runs_through(line: &Line, ahead: &[Line], first: &Line, section: Section) -> bool {
    let is_text = line.fence == Fence::Outside || line.indent > first.indent;
    is_text && !begins_anew(line, ahead, Some(section))
}

fn continues_field(line: &Line, ahead: &[Line], first: &Line, section: Option<Section>) -> bool {
    if line.indent > first.indent {
        let is_documented = |title: Title| match title.kind {
            Kind::Params => true,
            Kind::Returns | Kind::Raises => line.after_blank,
            Kind::Other => false,
        };
        return !is_known_field(line) && !title_at(line, ahead, section).is_some_and(is_documented);
    }
    let is_item = section.is_some_and(|section| section.item(line).is_some());
    let runs_on = !line.after_blank && line.fence == Fence::Outside && !is_item;
    runs_on && !title::is_run_in(&line.text, |kind| kind != Kind::Other) && !begins_anew(line, ahead, section)
}

fn is_deeper_prose(line: &Line, first: &Line) -> bool {
    line.indent > first.indent && !is_known_field(line)
}

fn is_known_field(line: &Line) -> bool {
    matches!(Field::read(&line.text), Some(Field::Known { .. }))
}

/// Splits `ValueError: when it is bad`; a bare type stands for itself.
fn split_error(text: &str) -> (Option<String>, &str) {
    match split_type(text) {
        (None, text) if looks_like_type(text) => (type_name(text), ""),
        split => split,
    }
}
