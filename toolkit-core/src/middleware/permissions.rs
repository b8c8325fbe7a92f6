//! Permissions: rules that allow, deny or ask for approval.

mod checked;
mod decided;
mod rule;

use super::{Middleware, Next, Outcome, ToolRequest};
use crate::context::{Grants, RunContext};
use crate::definition::ToolDefinition;
use crate::error::{BuildProblem, ToolError};
use crate::events::{RuleDecision, RuleEffect, ToolEventKind};
use crate::name::ToolName;
use crate::registry::ToolRegistry;
use checked::CheckedRules;
pub(crate) use decided::DecidedApproval;
pub use decided::DecidedApprovals;
pub use rule::PermissionRule;
use serde_json::Value;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, timeout};

/// The decision about a call.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Permission {
    /// The call may run.
    Allow,
    /// The call may not run. The model reads the reason.
    Deny(String),
    /// The call needs approval. The approver reads the reason.
    Ask(String),
}

/// A request to approve a call.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ApprovalRequest {
    /// The call that needs approval.
    pub request: ToolRequest,
    /// The arguments that the tool will decode, with the names of the parameters and the published
    /// defaults.
    ///
    /// A call is refused if a [`Value`] would round one of its integers.
    pub arguments: Value,
    /// Why the call needs approval.
    pub reason: String,
}

/// The answer to an [`ApprovalRequest`].
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Approval {
    /// The call runs.
    Approve,
    /// The call runs, and so do later calls of the tool that need approval for the same reason.
    ///
    /// The approval is valid for the [session](crate::Session) and its clones, or else for the run.
    /// Without a [run](crate::Dispatcher::with_run), it is valid for all calls with these permissions,
    /// including calls of other users. To keep it longer, the program must store it and answer later
    /// requests itself.
    ApproveForSession,
    /// The call runs with these arguments, unless the tool refuses them or a rule denies them.
    Change(Value),
    /// The call does not run. The model reads the reason.
    Deny(String),
    /// The decision comes later.
    ///
    /// The call ends with an error of the kind [`Pending`](crate::ErrorKind::Pending), and an agent
    /// interrupts its run until then.
    Later,
}

type ApprovalHandler =
    dyn Fn(ApprovalRequest) -> Pin<Box<dyn Future<Output = Approval> + Send>> + Send + Sync;

/// Allows or denies calls by rules, or asks for approval.
///
/// The first rule that applies to a call decides; without one, the call is [denied](Self::otherwise). So
/// add the denying rules first: a rule to deny privileged tools has no effect on a read-only tool if an
/// earlier rule allows all read-only tools. [`overruled`](Self::overruled) finds such tools.
///
/// Rules with conditions and approvers see only valid arguments. If a rule asks for approval, the
/// [handler](Self::with_handler) decides within its [time limit](Self::with_patience). The call holds no
/// permit while it waits.
///
/// Calls of a tool that need approval for the same reason reach the handler one after another, so an
/// approval [for the session](Approval::ApproveForSession) also applies to those still waiting. They wait
/// for each other within a session, or else within a run, or else within a batch. Clones share the
/// approvals for calls without a session or run.
///
/// # Rules without tools
///
/// A rule to deny or to ask whose pattern or custom tag selects no tool of a fixed registry is a mistake,
/// such as a misspelled tag. Calls that it should stop would run, so all calls are refused. The same holds
/// for a rule after a more lenient rule for all calls, which is never reached.
///
/// [`Dispatcher::check`](crate::Dispatcher::check) returns these mistakes, and an agent with them is not
/// built. For a [live registry](crate::LiveRegistry), they are [warnings](crate::Dispatcher::warnings).
///
/// ```
/// use toolkit_ai::{Dispatcher, ToolRegistry, ToolTag};
/// use toolkit_ai::middleware::{Approval, PermissionRule, Permissions};
///
/// let permissions = Permissions::new()
///     .rule(PermissionRule::deny("privileged").for_tag(ToolTag::Privileged))
///     .rule(PermissionRule::allow().for_tag(ToolTag::ReadOnly))
///     .rule(PermissionRule::ask("it changes something"))
///     .with_handler(|question| async move {
///         match question.request.definition().name.as_str() {
///             "save" => Approval::Approve,
///             _ => Approval::Deny("not today".to_owned()),
///         }
///     });
/// let dispatcher = Dispatcher::new(ToolRegistry::new())?.with_middleware(permissions);
/// # Ok::<(), toolkit_ai::BuildError>(())
/// ```
#[derive(Clone)]
#[must_use]
pub struct Permissions {
    rules: Vec<PermissionRule>,
    otherwise: Permission,
    handler: Option<Arc<ApprovalHandler>>,
    patience: Option<Duration>,
    unanswered: Approval,
    without_run: Grants,
    checked: CheckedRules,
}

impl Default for Permissions {
    fn default() -> Self {
        Self {
            rules: Vec::new(),
            otherwise: Permission::Deny("no rule allows it".to_owned()),
            handler: None,
            patience: None,
            unanswered: Approval::Deny("the request for approval was not answered".to_owned()),
            without_run: Grants::default(),
            checked: CheckedRules::default(),
        }
    }
}

impl Permissions {
    /// Creates permissions without rules. They deny every call.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a rule after the earlier ones.
    pub fn rule(mut self, rule: PermissionRule) -> Self {
        self.rules.push(rule);
        self
    }

    /// Sets the decision for calls to which no rule applies.
    pub fn otherwise(mut self, permission: Permission) -> Self {
        self.otherwise = permission;
        self
    }

    /// Sets the handler for approvals, which may wait for a person.
    ///
    /// Cancelling the call drops the handler's future.
    pub fn with_handler<Fut>(
        mut self,
        handler: impl Fn(ApprovalRequest) -> Fut + Send + Sync + 'static,
    ) -> Self
    where
        Fut: Future<Output = Approval> + Send + 'static,
    {
        self.handler = Some(Arc::new(move |question| Box::pin(handler(question))));
        self
    }

    /// Sets the time limit of the handler, and the answer if it expires or there is no handler.
    pub fn with_patience(mut self, limit: Duration, unanswered: Approval) -> Self {
        self.patience = Some(limit);
        self.unanswered = unanswered;
        self
    }

    /// Postpones all approvals, and replaces the handler.
    ///
    /// Each call that needs approval ends with an error of the kind
    /// [`Pending`](crate::ErrorKind::Pending), and an agent interrupts its run.
    pub fn decide_later(self) -> Self {
        self.with_handler(|_| std::future::ready(Approval::Later))
    }

    /// Returns the decision for a call, without asking for approval.
    #[must_use]
    pub fn decide(&self, definition: &ToolDefinition, arguments: &Value) -> &Permission {
        self.permission_of(self.position(definition, arguments))
    }

    /// Returns the position of the first rule that applies.
    fn position(&self, definition: &ToolDefinition, arguments: &Value) -> Option<usize> {
        self.rules.iter().position(|rule| rule.applies(definition, arguments))
    }

    fn permission_of(&self, rule: Option<usize>) -> &Permission {
        match rule.and_then(|position| self.rules.get(position)) {
            Some(rule) => &rule.permission,
            None => &self.otherwise,
        }
    }

    /// Decides about a call of the model, and tells the listeners.
    fn decide_call(&self, request: &ToolRequest, arguments: &Value) -> &Permission {
        let rule = self.position(request.definition(), arguments);
        let permission = self.permission_of(rule);
        if let Some(emitter) = request.context().emitter() {
            let (effect, reason) = match permission {
                Permission::Allow => (RuleEffect::Allow, None),
                Permission::Deny(reason) => (RuleEffect::Deny, Some(reason.clone())),
                Permission::Ask(reason) => (RuleEffect::Ask, Some(reason.clone())),
            };
            let description = match rule.and_then(|position| self.rules.get(position)) {
                Some(rule) => rule.description(),
                None => "no rule applies".to_owned(),
            };
            let mut normal_arguments = None;
            if emitter.includes_contents() && !arguments.is_null() {
                normal_arguments = request.arguments_json().ok().map(Arc::from);
            }
            let decision = RuleDecision { effect, rule, description, reason, normal_arguments };
            emitter.emit(ToolEventKind::RuleDecided(decision));
        }
        permission
    }

    /// Returns the names of the tools for which a strict rule comes after a more lenient rule.
    ///
    /// Use it in a test of the order. Rules for a single tool, rules for some arguments, and a final rule
    /// for all calls count as deliberate.
    ///
    /// ```
    /// use toolkit_ai::{ToolDefinition, ToolMetadata, ToolName, ToolTag};
    /// use toolkit_ai::middleware::{PermissionRule, Permissions};
    ///
    /// let allow = || PermissionRule::allow().for_tag(ToolTag::ReadOnly);
    /// let deny = || PermissionRule::deny("privileged").for_tag(ToolTag::Privileged);
    /// let metadata = ToolMetadata::default().with_tags(["read_only", "privileged"]);
    /// let schema = serde_json::json!({"type": "object"});
    /// let secrets = ToolDefinition::new(ToolName::new("secrets")?, "Shows.", schema).with_metadata(metadata);
    /// let trap = Permissions::new().rule(allow()).rule(deny());
    /// assert_eq!(trap.overruled([&secrets])[0].as_str(), "secrets");
    /// assert!(Permissions::new().rule(deny()).rule(allow()).overruled([&secrets]).is_empty());
    /// # Ok::<(), toolkit_ai::name::NameError>(())
    /// ```
    #[must_use]
    pub fn overruled<'a>(&self, tools: impl IntoIterator<Item = &'a ToolDefinition>) -> Vec<&'a ToolName> {
        tools.into_iter().filter(|tool| self.is_overruled(tool)).map(|tool| &tool.name).collect()
    }

    fn is_overruled(&self, definition: &ToolDefinition) -> bool {
        let mut rules = self.rules.iter().filter(|rule| rule.may_apply(definition));
        let Some(first) = rules.find(|rule| !rule.is_narrow()) else { return false };
        rules.any(|later| !later.is_for_all() && later.strictness() > first.strictness())
    }

    fn has_conditions(&self, definition: &ToolDefinition) -> bool {
        self.rules.iter().any(|rule| !rule.of_call.is_empty() && rule.may_apply(definition))
    }

    /// Returns the decided approval, or else the handler's.
    async fn approval(&self, approval_request: ApprovalRequest) -> Approval {
        let context = approval_request.request.context().clone();
        let asked_at = Instant::now();
        if let Some(emitter) = context.emitter() {
            emitter
                .emit(ToolEventKind::ApprovalRequested { reason: approval_request.reason.as_str().into() });
        }
        let approval = match context.extension() {
            Some(DecidedApproval(approval)) => approval.clone(),
            None => self.ask(approval_request).await,
        };
        if let Some(emitter) = context.emitter()
            && approval != Approval::Later
        {
            let approved = !matches!(approval, Approval::Deny(_));
            emitter.emit(ToolEventKind::ApprovalDecided { approved, waited: asked_at.elapsed() });
        }
        approval
    }

    async fn ask(&self, question: ApprovalRequest) -> Approval {
        let Some(handler) = &self.handler else {
            return match self.patience {
                Some(_) => self.unanswered.clone(),
                None => Approval::Deny("approvals have no handler in this program".to_owned()),
            };
        };
        let answer = handler(question);
        match self.patience {
            Some(limit) => timeout(limit, answer).await.unwrap_or_else(|_| self.unanswered.clone()),
            None => answer.await,
        }
    }
}

impl Middleware for Permissions {
    /// Only patterns of rules to allow calls: the others are in [`Middleware::rules_without_tools`].
    fn tool_patterns(&self) -> Vec<&str> {
        let mut patterns = Vec::new();
        for rule in &self.rules {
            if rule.permission == Permission::Allow {
                patterns.extend(rule.patterns());
            }
        }
        patterns
    }

    fn rules_without_tools(&self, registry: &ToolRegistry) -> Vec<BuildProblem> {
        let mut problems = Vec::new();
        for rule in &self.rules {
            problems.extend(rule.without_tools(registry));
        }
        let mut rules = self.rules.iter();
        if let Some(for_all) = rules.find(|rule| rule.is_for_all()) {
            problems.extend(rules.filter_map(|rule| rule.after_rule_for_all(for_all)));
        }
        problems
    }

    async fn handle(&self, mut request: ToolRequest, next: Next) -> Outcome {
        self.judge(&mut request).await?;
        next.run(request).await
    }

    async fn judge(&self, request: &mut ToolRequest) -> Result<(), ToolError> {
        // Checked here, so that no outer middleware can hide a rule without tools.
        if let Some(registry) = request.fixed_registry()
            && let Some(reason) =
                self.checked.refusal(registry, |registry| self.rules_without_tools(registry))
        {
            return Err(denied(request, &reason));
        }
        // Rules with conditions and approvers only receive calls that can run.
        let has_conditions = self.has_conditions(request.definition());
        let mut arguments = if has_conditions { request.valid_arguments()? } else { Value::Null };
        let reason = match self.decide_call(request, &arguments) {
            Permission::Allow => return Ok(()),
            Permission::Deny(reason) => return Err(denied(request, reason)),
            Permission::Ask(reason) => reason.clone(),
        };
        if !has_conditions {
            arguments = request.valid_arguments()?;
        }
        let tool = request.definition().name.clone();
        let grants = request.context().run().map_or(&self.without_run, RunContext::grants).clone();
        // Without a run, batches may belong to different users.
        let batch = if request.context().run().is_some() { None } else { Some(request.batch()) };
        let turn = grants.turn(tool.as_str(), &reason, batch);
        let _turn = turn.lock().await;
        // This approval may change the arguments.
        let is_decided = request.context().extension::<DecidedApproval>().is_some();
        if !is_decided && grants.has(tool.as_str(), &reason) {
            return Ok(());
        }
        let approval_request =
            ApprovalRequest { request: request.clone(), arguments, reason: reason.clone() };
        match self.approval(approval_request).await {
            Approval::Approve => {}
            Approval::ApproveForSession => grants.add(tool.as_str(), &reason),
            Approval::Change(arguments) => {
                request.set_arguments(arguments);
                request.validate()?;
                if let Permission::Deny(reason) = self.decide_call(request, request.arguments_value()?) {
                    return Err(denied(request, reason));
                }
            }
            Approval::Deny(reason) => return Err(denied(request, &reason)),
            Approval::Later => return Err(ToolError::needs_approval(request.context().known_name(), reason)),
        }
        Ok(())
    }
}

fn denied(request: &ToolRequest, reason: &str) -> ToolError {
    ToolError::denied(request.context().known_name(), reason)
}

impl_debug!(Permissions, |this| rules: this.rules, otherwise: this.otherwise, patience: this.patience);
