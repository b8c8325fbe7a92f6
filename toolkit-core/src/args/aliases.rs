//! Aliases of parameters.

/// Further names of parameters, in order, each with the name of its parameter. There are few, so they are a
/// list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Aliases(Vec<(String, String)>);

impl Aliases {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn get(&self, alias: &str) -> Option<&str> {
        let place = self.place(alias).ok()?;
        self.0.get(place).map(|(_, parameter)| parameter.as_str())
    }

    pub(crate) fn insert(&mut self, alias: String, parameter: String) {
        match self.place(&alias) {
            Ok(place) => {
                if let Some((_, known)) = self.0.get_mut(place) {
                    *known = parameter;
                }
            }
            Err(place) => self.0.insert(place, (alias, parameter)),
        }
    }

    pub(crate) fn retain(&mut self, keeps: impl Fn(&str, &str) -> bool) {
        self.0.retain(|(alias, parameter)| keeps(alias, parameter));
    }

    fn place(&self, alias: &str) -> Result<usize, usize> {
        self.0.binary_search_by(|(known, _)| known.as_str().cmp(alias))
    }
}
