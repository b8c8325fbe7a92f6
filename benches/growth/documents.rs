//! OpenAPI documents become tools.

use crate::shapes::{SHAPES, SHARED, Shape, YAML, document};
use crate::{Case, MOST, case};
use std::hint::black_box;
use toolkit_openapi::client::{OpenApiLimits, OpenApiTools};

/// Shapes below a limit that bounds their work, and their allowed growth.
const BELOW_A_LIMIT: [(&str, f64); 3] = [
    // Places of parameters have the path, of at most 4 KiB.
    ("one long name", 6.0),
    ("names in a path", 5.3),
    // The six levels are as broad as the root, and one tool has a limit.
    ("breadth of allOf in levels", 6.0),
];

pub(crate) fn cases() -> Vec<Case> {
    let tight = OpenApiLimits::default().with_values_per_byte(1).with_schema_bytes(2 << 10);
    let of_shape = |shapes: &'static [Shape], limits: OpenApiLimits| {
        shapes.iter().map(move |(name, size, shape)| {
            let most =
                BELOW_A_LIMIT.iter().find(|(slower, _)| slower == name).map_or(MOST, |(_, most)| *most);
            let text = move |size| document(&[shape(size)]);
            read(format!("document/{name}"), *size, limits.clone(), text).at_most(most)
        })
    };
    let mut cases: Vec<Case> = of_shape(SHAPES, OpenApiLimits::default()).collect();
    cases.extend(of_shape(SHARED, tight));
    cases.extend(
        YAML.iter()
            .map(|(name, size, text)| read(format!("yaml/{name}"), *size, OpenApiLimits::default(), text)),
    );
    cases
}

fn read(name: String, size: usize, limits: OpenApiLimits, text: impl Fn(usize) -> String + 'static) -> Case {
    case(name, size, move |size| {
        let text = text(size);
        let builder = OpenApiTools::builder().document_limits(limits.clone()).output_schemas();
        move || drop(black_box(builder.read_document(&text)))
    })
}
