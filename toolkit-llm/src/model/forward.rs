//! The properties of a model that wraps another one.

/// Implements the methods of [`ChatModel`](crate::ChatModel) that describe a wrapped model.
macro_rules! forward_properties {
    ($this:ident => $model:expr) => {
        fn name(&$this) -> &str {
            $model.name()
        }

        fn provider(&$this) -> &str {
            $model.provider()
        }

        fn output_losses(&$this, output: &$crate::model::OutputFormat) -> $crate::model::OutputLosses {
            $model.output_losses(output)
        }
    };
}

pub(crate) use forward_properties;
