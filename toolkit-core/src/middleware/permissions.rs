//! Permissions: rules that allow, deny or ask for approval.

use super::{Middleware, Next, Outcome, ToolRequest};
use crate::context::{Grants, RunContext};
use crate::error::{BuildError, ToolError};
use crate::event::ToolEventKind;
use crate::name::ToolName;
use crate::pattern::NamePattern;
use crate::tool::{ToolDefinition, ToolTag};
use serde_json::Value;
use std::pin::Pin;
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
    /// The call.
    pub request: ToolRequest,
    /// The arguments of the call, with aliases replaced by the names of the parameters. Integers beyond 64 bits are
    /// rounded; the text of [`ToolRequest::arguments_json`] is exact.
    pub arguments: Value,
    /// The reason why the call needs approval.
    pub reason: String,
}

/// The answer to an [`ApprovalRequest`].
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Approval {
    /// The call runs.
    Granted,
    /// The call runs. Later calls of the tool also run without another request for approval if a rule asks
    /// with the same reason. This holds for the [session](crate::Session) and its clones, or for the run if
    /// the run has no session. To keep the approval longer, the program must store the approval and answer
    /// again.
    GrantedForSession,
    /// The call runs with these arguments instead.
    Changed(Value),
    /// The call does not run. The model reads the reason.
    Refused(String),
}

type OfTool = dyn Fn(&ToolDefinition) -> bool + Send + Sync;
type OfCall = dyn Fn(&ToolDefinition, &Value) -> bool + Send + Sync;
type Handler = dyn Fn(ApprovalRequest) -> Pin<Box<dyn Future<Output = Approval> + Send>> + Send + Sync;

/// A rule of [`Permissions`].
///
/// Without conditions, a rule applies to all calls. With conditions, it applies to calls that meet all of
/// them.
///
/// ```
/// use toolkit::ToolTag;
/// use toolkit::middleware::PermissionRule;
///
/// let rule = PermissionRule::deny("only files of the project")
///     .for_tool("fs-*")?
///     .for_tag(ToolTag::Destructive)
///     .when(|_, arguments| !arguments["path"].as_str().is_some_and(|path| path.starts_with("/project/")));
/// # Ok::<(), toolkit::BuildError>(())
/// ```
#[must_use]
pub struct PermissionRule {
    permission: Permission,
    of_tool: Vec<Box<OfTool>>,
    of_call: Vec<Box<OfCall>>,
    /// Whether the rule is for a single tool by name. Such a rule counts as a deliberate exception.
    names_one: bool,
}

impl PermissionRule {
    fn new(permission: Permission) -> Self {
        Self { permission, of_tool: Vec::new(), of_call: Vec::new(), names_one: false }
    }

    /// Creates a rule to allow calls.
    pub fn allow() -> Self {
        Self::new(Permission::Allow)
    }

    /// Creates a rule to deny calls. The model reads the reason.
    pub fn deny(reason: impl Into<String>) -> Self {
        Self::new(Permission::Deny(reason.into()))
    }

    /// Creates a rule to ask for approval. The approver reads the reason.
    pub fn ask(reason: impl Into<String>) -> Self {
        Self::new(Permission::Ask(reason.into()))
    }

    /// Restricts the rule to tools with a name matching `pattern`. In the pattern, `*` matches any string and
    /// `?` any character.
    ///
    /// A call of `call_deferred` counts as a call of its target tool, so rules name the target tools.
    ///
    /// # Errors
    /// [`BuildError`] if no legal name can match the pattern, or if the pattern is `call_deferred`.
    pub fn for_tool(mut self, pattern: impl Into<String>) -> Result<Self, BuildError> {
        let pattern = NamePattern::new(pattern)?;
        self.names_one |= pattern.is_name();
        self.of_tool.push(Box::new(move |definition| pattern.matches(definition.name.as_str())));
        Ok(self)
    }

    /// Restricts the rule to tools with a tag.
    ///
    /// For the tags `read_only` and `destructive`, the hints of the tool count as well:
    /// [`read_only`](crate::ToolMetadata::read_only) and [`destructive`](crate::ToolMetadata::destructive).
    pub fn for_tag(mut self, tag: impl Into<ToolTag>) -> Self {
        let tag = tag.into();
        self.of_tool.push(Box::new(move |definition| {
            let metadata = &definition.metadata;
            let hint = match &tag {
                ToolTag::ReadOnly => metadata.read_only,
                ToolTag::Destructive => metadata.destructive,
                _ => None,
            };
            hint.unwrap_or_else(|| metadata.tags.contains(&tag))
        }));
        self
    }

    /// Restricts the rule: it applies to a call only if `condition` returns `true`.
    ///
    /// `condition` receives the arguments with aliases replaced by the names of the parameters. The tool
    /// accepts these arguments, but may convert values: the string `"5"` may become the number 5. So test for
    /// allowed values rather than for forbidden values.
    pub fn when(
        mut self,
        condition: impl Fn(&ToolDefinition, &Value) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.of_call.push(Box::new(condition));
        self
    }

    fn applies(&self, definition: &ToolDefinition, arguments: &Value) -> bool {
        self.may_apply(definition) && self.of_call.iter().all(|condition| condition(definition, arguments))
    }

    /// Returns whether the rule applies to the tool. Conditions on arguments are not tested.
    fn may_apply(&self, definition: &ToolDefinition) -> bool {
        self.of_tool.iter().all(|condition| condition(definition))
    }

    /// Returns whether the rule is for a single tool by name or has a condition on arguments. Such a rule
    /// counts as a deliberate exception.
    fn is_narrow(&self) -> bool {
        self.names_one || !self.of_call.is_empty()
    }

    /// Returns whether the rule applies to all calls, because it has no conditions.
    fn is_for_all(&self) -> bool {
        self.of_tool.is_empty() && self.of_call.is_empty()
    }

    fn strictness(&self) -> u8 {
        match self.permission {
            Permission::Allow => 0,
            Permission::Ask(_) => 1,
            Permission::Deny(_) => 2,
        }
    }
}

/// Allows or denies calls by rules, or asks for approval.
///
/// The first rule that applies to a call decides. If no rule applies, the call is [denied](Self::otherwise).
/// Add denying rules first: after a rule that allows read-only tools, a rule that denies privileged tools has
/// no effect on a tool that is both read-only and privileged. [`overruled`](Self::overruled) finds such
/// tools.
///
/// The arguments are checked before the rules, so no approval is requested for a call with invalid arguments.
/// If a rule asks for approval, the [handler](Self::with_handler) decides within its
/// [time limit](Self::with_patience). The call does not hold a permit while it waits. The error of a denied
/// call tells the model the reason.
///
/// If several calls of a tool need approval for the same reason, the handler receives them one after another.
/// So an approval [for the session](Approval::GrantedForSession) also applies to the calls still waiting.
/// Calls wait for each other within a session, within a run if it has no session, or within a batch if it has
/// no run.
///
/// ```
/// use toolkit::{Dispatcher, ToolRegistry, ToolTag};
/// use toolkit::middleware::{Approval, PermissionRule, Permissions};
///
/// let permissions = Permissions::new()
///     .rule(PermissionRule::deny("privileged").for_tag(ToolTag::Privileged))
///     .rule(PermissionRule::allow().for_tag(ToolTag::ReadOnly))
///     .rule(PermissionRule::ask("it changes something"))
///     .with_handler(|question| async move {
///         match question.request.definition().name.as_str() {
///             "save" => Approval::Granted,
///             _ => Approval::Refused("not today".to_owned()),
///         }
///     });
/// let dispatcher = Dispatcher::new(ToolRegistry::new())?.with_middleware(permissions);
/// # Ok::<(), toolkit::BuildError>(())
/// ```
#[must_use]
pub struct Permissions {
    rules: Vec<PermissionRule>,
    otherwise: Permission,
    handler: Option<Box<Handler>>,
    patience: Option<Duration>,
    unanswered: Approval,
    without_run: Grants,
}

impl Default for Permissions {
    fn default() -> Self {
        Self {
            rules: Vec::new(),
            otherwise: Permission::Deny("no rule allows it".to_owned()),
            handler: None,
            patience: None,
            unanswered: Approval::Refused("the request for approval was not answered".to_owned()),
            without_run: Grants::default(),
        }
    }
}

impl Permissions {
    /// Creates permissions without rules. They deny every call.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a rule after the rules added before.
    pub fn rule(mut self, rule: PermissionRule) -> Self {
        self.rules.push(rule);
        self
    }

    /// Sets the decision for calls without an applicable rule.
    pub fn otherwise(mut self, permission: Permission) -> Self {
        self.otherwise = permission;
        self
    }

    /// Sets the handler for approvals. The handler may wait for a person. Cancelling the call drops the
    /// handler's future.
    pub fn with_handler<Fut>(
        mut self,
        handler: impl Fn(ApprovalRequest) -> Fut + Send + Sync + 'static,
    ) -> Self
    where
        Fut: Future<Output = Approval> + Send + 'static,
    {
        self.handler = Some(Box::new(move |question| Box::pin(handler(question))));
        self
    }

    /// Sets the time limit of the handler. If the handler has not answered after `limit`, the answer is
    /// `unanswered`.
    pub fn with_patience(mut self, limit: Duration, unanswered: Approval) -> Self {
        self.patience = Some(limit);
        self.unanswered = unanswered;
        self
    }

    /// Returns the decision for a call, without asking for approval.
    #[must_use]
    pub fn decide(&self, definition: &ToolDefinition, arguments: &Value) -> &Permission {
        let rule = self.rules.iter().find(|rule| rule.applies(definition, arguments));
        rule.map_or(&self.otherwise, |rule| &rule.permission)
    }

    /// Returns the names of the tools with an ineffective rule: a stricter rule after a more lenient rule.
    /// The earlier rule takes precedence.
    ///
    /// For these tools, the order of the rules may be a mistake; a test can check that there are none. Three
    /// kinds of rules count as deliberate: rules for a single tool, rules for some arguments, and a final
    /// rule for all calls.
    ///
    /// ```
    /// use toolkit::{ToolDefinition, ToolMetadata, ToolName, ToolTag};
    /// use toolkit::middleware::{PermissionRule, Permissions};
    ///
    /// let allow = || PermissionRule::allow().for_tag(ToolTag::ReadOnly);
    /// let deny = || PermissionRule::deny("privileged").for_tag(ToolTag::Privileged);
    /// let metadata = ToolMetadata::default().with_tags(["read_only", "privileged"]);
    /// let schema = serde_json::json!({"type": "object"});
    /// let secrets = ToolDefinition::new(ToolName::new("secrets")?, "Shows.", schema).with_metadata(metadata);
    /// let trap = Permissions::new().rule(allow()).rule(deny());
    /// assert_eq!(trap.overruled([&secrets])[0].as_str(), "secrets");
    /// assert!(Permissions::new().rule(deny()).rule(allow()).overruled([&secrets]).is_empty());
    /// # Ok::<(), toolkit::name::NameError>(())
    /// ```
    #[must_use]
    pub fn overruled<'a>(&self, tools: impl IntoIterator<Item = &'a ToolDefinition>) -> Vec<&'a ToolName> {
        let is_overruled = |definition: &ToolDefinition| {
            let mut rules = self.rules.iter().filter(|rule| rule.may_apply(definition));
            let first = rules.find(|rule| !rule.is_narrow());
            first.is_some_and(|first| {
                rules.any(|later| !later.is_for_all() && later.strictness() > first.strictness())
            })
        };
        tools.into_iter().filter(|tool| is_overruled(tool)).map(|tool| &tool.name).collect()
    }

    /// Returns whether any rule for this tool has a condition on arguments.
    fn has_conditions(&self, definition: &ToolDefinition) -> bool {
        self.rules.iter().any(|rule| !rule.of_call.is_empty() && rule.may_apply(definition))
    }

    async fn ask(&self, question: ApprovalRequest) -> Approval {
        let Some(handler) = &self.handler else {
            return self.unanswered.clone();
        };
        let answer = handler(question);
        match self.patience {
            Some(limit) => timeout(limit, answer).await.unwrap_or_else(|_| self.unanswered.clone()),
            None => answer.await,
        }
    }
}

impl Middleware for Permissions {
    async fn handle(&self, mut request: ToolRequest, next: Next) -> Outcome {
        // Rules cannot be applied to arguments that are not an object. The tool would refuse them too.
        let arguments = request.arguments_value()?;
        // Validate the call first, so that conditions and people only see calls that can run.
        let has_conditions = self.has_conditions(request.definition());
        if has_conditions {
            request.validate()?;
        }
        let reason = match self.decide(request.definition(), arguments) {
            Permission::Allow => return next.run(request).await,
            Permission::Deny(reason) => return Err(denied(&request, reason)),
            Permission::Ask(reason) => reason.clone(),
        };
        if !has_conditions {
            request.validate()?;
        }
        let tool = request.definition().name.clone();
        let grants = request.context().run().map_or(&self.without_run, RunContext::grants).clone();
        // Without a run, batches may belong to different users, so the calls of a batch wait only for each
        // other.
        let batch = request.context().run().is_none().then(|| request.batch());
        let turn = grants.turn(tool.as_str(), &reason, batch);
        let turn = turn.lock().await;
        if grants.has(tool.as_str(), &reason) {
            drop(turn);
            return next.run(request).await;
        }
        let (emitter, asked_at) = (request.context().emitter().cloned(), Instant::now());
        if let Some(emitter) = &emitter {
            emitter.emit(ToolEventKind::ApprovalRequested { reason: reason.as_str().into() });
        }
        let approval = self
            .ask(ApprovalRequest {
                request: request.clone(),
                arguments: arguments.clone(),
                reason: reason.clone(),
            })
            .await;
        if let Some(emitter) = &emitter {
            let approved = !matches!(approval, Approval::Refused(_));
            emitter.emit(ToolEventKind::ApprovalDecided { approved, waited: asked_at.elapsed() });
        }
        match approval {
            Approval::Granted => {}
            Approval::GrantedForSession => grants.add(tool.as_str(), &reason),
            Approval::Changed(arguments) => request.set_arguments(arguments),
            Approval::Refused(reason) => return Err(denied(&request, &reason)),
        }
        drop(turn);
        next.run(request).await
    }
}

fn denied(request: &ToolRequest, reason: &str) -> ToolError {
    ToolError::denied(request.context().known_name(), reason)
}

impl_debug!(PermissionRule, |this| permission: this.permission, conditions: this.of_tool.len() + this.of_call.len());
impl_debug!(Permissions, |this| rules: this.rules, otherwise: this.otherwise, patience: this.patience);
