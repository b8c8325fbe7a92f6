//! The paths to turns and calls in a log, which are the ids of messages and the keys of calls.

use super::branches::is_branch;
use super::{Conversation, State};
use crate::call_ids::CallIds;
use crate::event::RunScope;
use std::sync::Arc;
use toolkit_core::CallId;

/// The path in a log to a turn's calls.
#[derive(Debug, Default)]
pub(crate) struct TurnPath {
    node: Arc<str>,
    run: u32,
    turn: u32,
}

impl TurnPath {
    pub(crate) fn call(&self, position: usize) -> String {
        format!("{}{}.{}.{position}", self.node, self.run, self.turn)
    }

    /// Returns the id of the turn's message.
    pub(crate) fn message(&self) -> Arc<str> {
        format!("{}{}.{}", self.node, self.run, self.turn).into()
    }
}

impl Conversation {
    /// Returns the path to the call at `position` of the unfinished turn, for decisions.
    pub(crate) fn path_of_call(&self, position: usize) -> String {
        self.turn_path().call(position)
    }

    pub(crate) fn turn_path(&self) -> TurnPath {
        self.state.turn_path(self.node.clone())
    }

    /// Returns the ids of the messages with unchecked text before a pause, in their order.
    pub(crate) fn unchecked_ids(&self) -> Vec<Arc<str>> {
        self.state.unchecked_ids(&self.node)
    }
}

impl State {
    /// Returns the path to the latest turn. `node` is that to this conversation, with `/` at its end.
    pub(super) fn turn_path(&self, node: Arc<str>) -> TurnPath {
        let turn = self.run.as_ref().map_or(0, |run| run.turns);
        TurnPath { node, run: self.runs, turn }
    }

    pub(super) fn unchecked_ids(&self, node: &Arc<str>) -> Vec<Arc<str>> {
        let Some(run) = &self.run else { return Vec::new() };
        let count = self.history.unchecked.map_or(0, |begin| self.history.len().saturating_sub(begin));
        let skipped = run.paused.len().saturating_sub(count);
        let paused = run.paused.iter().skip(skipped);
        paused.map(|turn| TurnPath { node: node.clone(), run: self.runs, turn: *turn }.message()).collect()
    }

    pub(crate) fn runs(&self) -> u32 {
        self.runs
    }

    /// Returns the conversation at the path `node`.
    pub(super) fn at_node_mut(&mut self, node: &str) -> Option<&mut Self> {
        let mut state = self;
        for key in keys(node) {
            state = state.children.get_mut(key)?;
        }
        Some(state)
    }

    /// Returns the calls and parallel agents around the conversation at the path `node`, outermost first.
    pub(super) fn scopes(&self, node: &str) -> Vec<RunScope> {
        let mut scopes = Vec::new();
        let mut state = Some(self);
        for key in keys(node) {
            let scope = state.and_then(|state| state.scope(key));
            scopes.push(scope.unwrap_or_else(|| RunScope::Call(key.into())));
            state = state.and_then(|state| state.children.get(key));
        }
        scopes
    }

    fn scope(&self, key: &str) -> Option<RunScope> {
        if is_branch(key) {
            return self.branch_index(key).map(RunScope::Branch);
        }
        let position: usize = key.rsplit('.').next()?.parse().ok()?;
        let calls = self.turn.as_ref()?.message().calls.get(..=position)?;
        let mut ids = CallIds::default();
        let mut id = CallId::from(key);
        for call in calls {
            id = ids.add(call.id.clone());
        }
        Some(RunScope::Call(id))
    }
}

fn keys(node: &str) -> impl Iterator<Item = &str> {
    node.split('/').filter(|key| !key.is_empty())
}
