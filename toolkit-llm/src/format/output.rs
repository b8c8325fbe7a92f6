//! The schema of an answer in the dialect of an API.

use crate::facts::{ApiFormat, Server};
use crate::model::OutputFormat;
use toolkit_core::schema::ConvertedSchema;
use toolkit_schema::__private::fit_references;

impl OutputFormat {
    /// Converts the schema to the dialect of the API, with the losses. Their paths are those in the request.
    #[doc(hidden)]
    #[must_use]
    pub fn schema_for(&self, format: ApiFormat) -> ConvertedSchema {
        let facts = format.request_facts(Server::Own);
        let mut converted = facts.output.dialect.convert(&self.schema);
        if let Some(exits) = facts.output.loops {
            converted.losses.extend(fit_references(&mut converted.schema, exits));
        }
        for loss in converted.losses.iter_mut().chain(&mut converted.narrowed) {
            loss.path.insert_str(0, "/options/output/schema");
        }
        converted
    }
}
