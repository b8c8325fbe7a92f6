//! The tokens and the cost of model calls.

use super::{ChatModel, ModelError, ModelRequest, Price};
use crate::message::{ModelResponse, Paid};
use crate::response::Usage;
use std::mem::take;
use std::ops::AddAssign;
use std::sync::{Arc, Weak};

/// The tokens of model calls, with a known cost for some of them.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Bill {
    /// All tokens.
    pub usage: Usage,
    /// The tokens with a known cost.
    pub paid: Paid,
}

impl Bill {
    /// Returns whether there are no tokens.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns whether all tokens have a price. `price` applies to those of unknown cost.
    #[must_use]
    pub fn is_priced(&self, price: &Price) -> bool {
        self.usage == self.paid.usage || *price != Price::default()
    }

    /// Returns the cost of all tokens. `price` applies to those of unknown cost.
    #[must_use]
    pub fn cost(&self, price: &Price) -> f64 {
        let others = price.cost(self.usage);
        if self.paid.usage.is_empty() {
            self.paid.cost + others
        } else {
            self.paid.cost + (others - price.cost(self.paid.usage))
        }
    }

    pub(super) fn at(self, price: &Price) -> Self {
        Self { paid: Paid { usage: self.usage, cost: self.cost(price) }, ..self }
    }

    /// Returns what turns a bill with the same tokens at another price into this bill.
    pub(super) fn correction(self) -> Self {
        Self { usage: Usage::default(), ..self }
    }
}

impl From<Usage> for Bill {
    fn from(usage: Usage) -> Self {
        Self { usage, paid: Paid::default() }
    }
}

impl AddAssign for Bill {
    fn add_assign(&mut self, other: Self) {
        self.usage += other.usage;
        self.paid += other.paid;
    }
}

impl ModelResponse {
    /// Returns the cost of the response and of failed attempts before it, if all their models have a [price
    /// of their own](super::Priced).
    #[must_use]
    pub fn cost(&self) -> Option<f64> {
        let bill = self.billed();
        if bill.paid.usage == bill.usage { Some(bill.cost(&Price::default())) } else { None }
    }
}

impl ModelResponse {
    /// Returns the tokens of the response and of failed attempts.
    #[doc(hidden)]
    #[must_use]
    pub fn billed(&self) -> Bill {
        let mut usage = self.usage;
        usage += self.failed_usage;
        Bill { usage, paid: self.paid.as_deref().copied().unwrap_or_default() }
    }

    pub(super) fn at(mut self, price: &Price) -> Self {
        let bill = self.billed();
        // A free answer needs no token counts.
        if !bill.usage.is_empty() || *price == Price::default() {
            self.paid = Some(Box::new(bill.at(price).paid));
        }
        self
    }
}

impl ModelError {
    /// Returns the tokens of this and earlier failed attempts.
    #[doc(hidden)]
    #[must_use]
    pub fn billed(&self) -> Bill {
        match &self.partial {
            Some(partial) => partial.billed(),
            None => Bill::default(),
        }
    }

    /// Adds tokens reported before the error, unless the error has token counts.
    #[doc(hidden)]
    #[must_use]
    pub fn reporting(mut self, reported: Usage) -> Self {
        if !reported.is_empty() && self.billed().is_empty() {
            self.partial.get_or_insert_default().usage = reported;
        }
        self
    }

    pub(crate) fn after(mut self, failed: Bill) -> Self {
        if !failed.is_empty() {
            let partial = self.partial.take().unwrap_or_default();
            self.partial = Some(Box::new(partial.after(failed)));
        }
        self
    }

    pub(super) fn at(mut self, price: &Price) -> Self {
        if let Some(partial) = self.partial {
            self.partial = Some(Box::new(partial.at(price)));
        }
        self
    }
}

/// An attempt to get an answer, complete or streamed.
pub(super) trait Attempt: Sized + Send {
    /// Asks `model`. A streamed answer is returned after its first piece.
    fn ask(
        model: &impl ChatModel,
        request: ModelRequest,
    ) -> impl Future<Output = Result<Self, ModelError>> + Send;

    /// Adds the tokens of failed attempts. If the answer is dropped, `account` counts them.
    fn after_attempts(self, failed: Bill, account: Option<Account>) -> Self;
}

impl ModelResponse {
    pub(crate) fn after(mut self, failed: Bill) -> Self {
        self.failed_usage += failed.usage;
        if failed.paid != Paid::default() {
            **self.paid.get_or_insert_default() += failed.paid;
        }
        self
    }
}

impl Attempt for ModelResponse {
    async fn ask(model: &impl ChatModel, request: ModelRequest) -> Result<Self, ModelError> {
        model.respond(request).await
    }

    fn after_attempts(self, failed: Bill, _: Option<Account>) -> Self {
        self.after(failed)
    }
}

/// Counts the tokens of dropped model calls.
pub trait Billing: Send + Sync {
    /// Adds the tokens of a dropped call.
    fn add(&self, bill: Bill);
}

/// Counts the tokens of a dropped request, which neither a response nor an error reports.
#[derive(Clone)]
pub struct Account {
    billing: Weak<dyn Billing>,
    /// The model's own price, if it has one.
    price: Option<Box<Price>>,
}

impl Account {
    /// Adds the tokens of a dropped call.
    pub fn add(&self, bill: Bill) {
        if let Some(billing) = self.billing.upgrade() {
            match &self.price {
                Some(price) => billing.add(bill.at(price)),
                None => billing.add(bill),
            }
        }
    }
}

debug!(Account, self, "price": self.price);

impl ModelRequest {
    /// Sets the account for the tokens of a dropped request.
    #[doc(hidden)]
    pub fn bill_to<B: Billing + 'static>(&mut self, billing: &Arc<B>) {
        let billing: Weak<B> = Arc::downgrade(billing);
        self.account = Some(Account { billing, price: None });
    }

    pub(super) fn at(mut self, price: Price) -> Self {
        if let Some(account) = &mut self.account {
            account.price = Some(Box::new(price));
        }
        self
    }
}

/// Tokens that a response or an error will report. If this is dropped before, the account counts them.
#[derive(Debug)]
pub struct Unreported {
    account: Option<Account>,
    /// The tokens.
    pub bill: Bill,
}

impl Unreported {
    /// Creates the value without tokens.
    #[must_use]
    pub fn new(account: Option<Account>) -> Self {
        Self { account, bill: Bill::default() }
    }

    /// Returns the tokens, which the caller now reports.
    pub fn take(&mut self) -> Bill {
        take(&mut self.bill)
    }

    /// Adds the tokens to an answer, which now reports them.
    pub(super) fn before<T: Attempt>(&mut self, answer: T) -> T {
        let failed = self.take();
        answer.after_attempts(failed, self.account.clone())
    }
}

impl Drop for Unreported {
    fn drop(&mut self) {
        let bill = self.take();
        if let Some(account) = &self.account
            && !bill.is_empty()
        {
            account.add(bill);
        }
    }
}
