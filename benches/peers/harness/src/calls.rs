/// One call: JSON text in, JSON text out.
#[derive(Debug, Clone, Copy)]
pub struct Call {
    pub tool: &'static str,
    pub arguments: &'static str,
    pub result: &'static str,
}

/// Two integers; a text and an optional number; ten fields with an enum, three structs in a list and a nested address.
pub const CALLS: [Call; 3] = [
    Call { tool: "add", arguments: r#"{"a":17,"b":25}"#, result: "42" },
    Call {
        tool: "search_web",
        arguments: r#"{"query":"rust function calling","max_results":3}"#,
        result: r#"["https://example.com/rust function calling/0","https://example.com/rust function calling/1","https://example.com/rust function calling/2"]"#,
    },
    Call {
        tool: "create_order",
        arguments: concat!(
            r#"{"customer":"Ada Lovelace","email":"ada@example.com","priority":"express","items":["#,
            r#"{"sku":"BK-10234","quantity":2,"unit_price":19.5},{"sku":"PN-00871","quantity":12,"unit_price":1.25},"#,
            r#"{"sku":"NB-55310","quantity":3,"unit_price":7.5}],"shipping":{"street":"12 St James's Square","#,
            r#""city":"London","postal_code":"SW1Y 4JH","country":"GB"},"tags":["gift","newsletter"],"#,
            r#""note":"Leave the parcel with the porter if nobody answers.","express":true,"discount":0.25,"#,
            r#""placed_at":1735689600}"#
        ),
        result: r#"{"customer":"Ada Lovelace","quantity":17,"total":57.375}"#,
    },
];
