//! JSONPath (RFC 9535), as far as overlays use it: names, indices, wildcards, descendants, and filters that
//! compare.

use super::node::below;
use serde_json::Value;

#[derive(Debug, PartialEq)]
pub(super) struct JsonPath(Vec<PathSegment>);

#[derive(Debug, PartialEq)]
struct PathSegment {
    /// Whether the segment selects in everything inside the value, too.
    descends: bool,
    selectors: Vec<PathSelector>,
}

#[derive(Debug, PartialEq)]
enum PathSelector {
    Name(String),
    Index(i64),
    All,
    Filter(PathFilter),
}

#[derive(Debug, PartialEq)]
struct PathFilter(Vec<Vec<FilterTest>>);

#[derive(Debug, PartialEq)]
struct FilterTest {
    path: JsonPath,
    /// The value to compare with; `None` for any value.
    expected: Option<Value>,
    is_negated: bool,
}

impl JsonPath {
    /// Parses a path such as `$.paths.*.get` or `$.paths['/users'].*[?@.deprecated == true]`.
    ///
    /// # Errors
    /// What is not understood. Functions, slices and comparisons of order are not supported.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let mut parser = PathParser { rest: text.trim(), text };
        if !parser.takes("$") {
            return Err(parser.unknown());
        }
        let path = parser.segments()?;
        if parser.rest.is_empty() { Ok(path) } else { Err(parser.unknown()) }
    }

    /// Returns the selected places as JSON pointers, in document order.
    pub(super) fn places(&self, root: &Value) -> Vec<String> {
        let mut found = vec![(String::new(), root)];
        for segment in &self.0 {
            let mut next = Vec::new();
            for (place, value) in found {
                segment.select(&place, value, &mut next);
            }
            found = next;
        }
        let mut places: Vec<String> = Vec::new();
        for (place, _) in found {
            if !places.contains(&place) {
                places.push(place);
            }
        }
        places
    }

    fn first<'v>(&self, root: &'v Value) -> Option<&'v Value> {
        root.pointer(self.places(root).first()?)
    }
}

impl PathSegment {
    fn select<'v>(&self, place: &str, value: &'v Value, found: &mut Vec<(String, &'v Value)>) {
        let inside = inside(place, value);
        for selector in &self.selectors {
            match selector {
                PathSelector::Name(name) => {
                    if let Some(member) = value.get(name) {
                        found.push((below(place, name), member));
                    }
                }
                PathSelector::Index(index) => {
                    let length = value.as_array().map_or(0, Vec::len);
                    if let Some(position) = position(*index, length)
                        && let Some(item) = value.get(position)
                    {
                        found.push((format!("{place}/{position}"), item));
                    }
                }
                PathSelector::All => found.extend(inside.iter().cloned()),
                PathSelector::Filter(filter) => {
                    for (place, value) in &inside {
                        if filter.holds(value) {
                            found.push((place.clone(), *value));
                        }
                    }
                }
            }
        }
        if self.descends {
            for (place, value) in inside {
                self.select(&place, value, found);
            }
        }
    }
}

/// Returns the position of an index, which counts from the end if negative.
fn position(index: i64, length: usize) -> Option<usize> {
    match usize::try_from(index) {
        Ok(position) => Some(position),
        Err(_) => length.checked_sub(usize::try_from(-index).ok()?),
    }
}

fn inside<'v>(place: &str, value: &'v Value) -> Vec<(String, &'v Value)> {
    match value {
        Value::Object(members) => members.iter().map(|(name, value)| (below(place, name), value)).collect(),
        Value::Array(items) => {
            items.iter().enumerate().map(|(index, value)| (format!("{place}/{index}"), value)).collect()
        }
        _ => Vec::new(),
    }
}

impl PathFilter {
    fn holds(&self, value: &Value) -> bool {
        for tests in &self.0 {
            if tests.iter().all(|test| test.holds(value)) {
                return true;
            }
        }
        false
    }
}

impl FilterTest {
    fn holds(&self, value: &Value) -> bool {
        let selected = self.path.first(value);
        let holds = match &self.expected {
            Some(expected) => selected == Some(expected),
            None => selected.is_some(),
        };
        holds != self.is_negated
    }
}

struct PathParser<'t> {
    rest: &'t str,
    text: &'t str,
}

impl<'t> PathParser<'t> {
    fn unknown(&self) -> String {
        format!("has the JSONPath `{}`, which is not understood at `{}`", self.text, self.rest)
    }

    fn blanks(&mut self) {
        self.rest = self.rest.trim_start();
    }

    fn takes(&mut self, token: &str) -> bool {
        match self.rest.strip_prefix(token) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn segments(&mut self) -> Result<JsonPath, String> {
        let mut segments = Vec::new();
        loop {
            let descends = self.takes("..");
            let selectors = if self.takes("[") {
                self.bracket()?
            } else if descends || self.takes(".") {
                vec![self.shorthand()?]
            } else {
                return Ok(JsonPath(segments));
            };
            segments.push(PathSegment { descends, selectors });
        }
    }

    fn shorthand(&mut self) -> Result<PathSelector, String> {
        if self.takes("*") {
            return Ok(PathSelector::All);
        }
        let end = self.rest.find(ends_name).unwrap_or(self.rest.len());
        if end == 0 {
            return Err(self.unknown());
        }
        let (name, rest) = self.rest.split_at(end);
        self.rest = rest;
        Ok(PathSelector::Name(name.to_owned()))
    }

    fn bracket(&mut self) -> Result<Vec<PathSelector>, String> {
        let mut selectors = Vec::new();
        loop {
            self.blanks();
            let selector = if self.takes("*") {
                PathSelector::All
            } else if self.takes("?") {
                PathSelector::Filter(self.filter()?)
            } else {
                match self.literal()? {
                    Value::String(name) => PathSelector::Name(name),
                    Value::Number(index) => {
                        PathSelector::Index(index.as_i64().ok_or_else(|| self.unknown())?)
                    }
                    _ => return Err(self.unknown()),
                }
            };
            selectors.push(selector);
            self.blanks();
            if self.takes("]") {
                return Ok(selectors);
            }
            if !self.takes(",") {
                return Err(self.unknown());
            }
        }
    }

    fn filter(&mut self) -> Result<PathFilter, String> {
        self.blanks();
        let is_enclosed = self.takes("(");
        let mut alternatives = vec![vec![self.test()?]];
        loop {
            if self.takes("||") {
                alternatives.push(vec![self.test()?]);
            } else if self.takes("&&") {
                let test = self.test()?;
                if let Some(tests) = alternatives.last_mut() {
                    tests.push(test);
                }
            } else if is_enclosed && !self.takes(")") {
                return Err(self.unknown());
            } else {
                return Ok(PathFilter(alternatives));
            }
        }
    }

    fn test(&mut self) -> Result<FilterTest, String> {
        self.blanks();
        let is_not = self.takes("!");
        if !self.takes("@") {
            return Err(self.unknown());
        }
        let path = self.segments()?;
        self.blanks();
        let is_unequal = self.takes("!=");
        let expected = if is_unequal || self.takes("==") { Some(self.literal()?) } else { None };
        self.blanks();
        Ok(FilterTest { path, expected, is_negated: is_not != is_unequal })
    }

    fn literal(&mut self) -> Result<Value, String> {
        self.blanks();
        if self.rest.starts_with('\'') {
            let inside = &self.rest[1..];
            let Some((text, rest)) = inside.split_once('\'') else { return Err(self.unknown()) };
            if text.contains('\\') {
                return Err(self.unknown());
            }
            self.rest = rest;
            return Ok(text.into());
        }
        let mut values = serde_json::Deserializer::from_str(self.rest).into_iter::<Value>();
        match values.next() {
            Some(Ok(value)) if !value.is_array() && !value.is_object() => {
                self.rest = &self.rest[values.byte_offset()..];
                Ok(value)
            }
            _ => Err(self.unknown()),
        }
    }
}

fn ends_name(c: char) -> bool {
    c.is_ascii() && !c.is_ascii_alphanumeric() && !matches!(c, '_' | '-')
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn paths_of_overlays_select_their_places() {
        let document = json!({
            "paths": {
                "/a": {"get": {"operationId": "x", "tags": ["t"], "deprecated": true}, "put": {"operationId": "y"}},
                "/b": {"get": {"x-internal": "no"}},
            },
            "servers": [{"url": "1"}, {"url": "2"}],
        });
        let cases: &[(&str, &[&str])] = &[
            ("$", &[""]),
            ("$.paths['/a'].get", &["/paths/~1a/get"]),
            ("$.paths[\"/a\", '/b'].get", &["/paths/~1a/get", "/paths/~1b/get"]),
            ("$.paths.*.get", &["/paths/~1a/get", "/paths/~1b/get"]),
            ("$.servers[1]", &["/servers/1"]),
            ("$.servers[-2].url", &["/servers/0/url"]),
            ("$..operationId", &["/paths/~1a/get/operationId", "/paths/~1a/put/operationId"]),
            ("$.paths.*.*[?(@.operationId == 'x')]", &[]),
            ("$.paths.*[?(@.operationId == 'x')]", &["/paths/~1a/get"]),
            (
                "$.paths.*[?@.deprecated==true || @['x-internal'] == \"no\"]",
                &["/paths/~1a/get", "/paths/~1b/get"],
            ),
            ("$.paths.*[?@.operationId && !@.deprecated]", &["/paths/~1a/put"]),
            ("$.paths.*[?(@.operationId != 'x')]", &["/paths/~1a/put", "/paths/~1b/get"]),
            ("$.nothing[*]", &[]),
        ];
        for (path, places) in cases {
            assert_eq!(JsonPath::parse(path).unwrap().places(&document), *places, "{path}");
        }
        for path in ["paths", "$.paths[", "$[?length(@.a) > 1]", "$.servers[0:1]", "$.a b", "$[?@.a < 1]"] {
            assert!(JsonPath::parse(path).unwrap_err().contains("not understood"), "{path}");
        }
    }
}
