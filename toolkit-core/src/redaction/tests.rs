//! Tests of redaction with random secrets.

use super::*;
use proptest::prelude::*;
use serde_json::json;

/// Characters that JSON, URLs, forms and Base64 write in several ways.
fn secret() -> impl Strategy<Value = String> {
    proptest::string::string_regex("[a-fA-F0-9nutr/+=%&?#:;,. \"'<>\\\\\n\tä€😀-]{8,40}").unwrap()
}

fn url(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02x}")).collect()
}

fn unicode(text: &str) -> String {
    text.encode_utf16().map(|unit| format!("\\u{unit:04X}")).collect()
}

fn quoted(text: &str) -> String {
    let quoted = Value::from(text).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

/// Returns the spellings of a secret in other texts.
fn spellings(secret: &str) -> Vec<String> {
    let json = quoted(secret);
    let form = url(secret).replace("%20", "+");
    let some = secret.replace('%', "%25").replace('/', "%2F").replace(' ', "%20");
    vec![
        secret.to_owned(),
        json.replace('/', "\\/"),
        quoted(&json),
        quoted(&quoted(&json.replace('/', "\\/"))),
        unicode(secret),
        quoted(&unicode(secret)),
        url(secret),
        quoted(&some),
        url(&json),
        unicode(&url(secret)),
        form,
        some,
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn each_spelling_of_a_secret_is_found(secret in secret(), before in "[a-z\\\\%u0]{0,5}", after in "[a-z0-9]{0,5}") {
        let redactor = Redactor::from(vec![secret.clone()]);
        for spelling in spellings(&secret) {
            // A plain secret may follow anything. A backslash before a character that JSON escapes may be
            // its escape, and goes with the secret.
            let before = if spelling != secret {
                "key="
            } else if secret.starts_with(['\\', '/', '"']) {
                before.trim_end_matches('\\')
            } else {
                before.as_str()
            };
            let text = redactor.redact(&format!("{before}{spelling}{after}"));
            prop_assert_eq!(text, format!("{before}…{after}"), "{}", spelling);
        }
    }

    #[test]
    fn a_value_stays_a_value_without_the_secret(secret in secret(), text in "[a-z]{0,4}") {
        let redactor = Redactor::from(vec![secret.clone()]);
        let value = json!({"key": [format!("{text}{secret}"), {format!("a{secret}b"): 1}]});
        for written in [value.to_string(), value.to_string().replace('/', "\\/")] {
            let read = Unread::new(written).text(&redactor).json();
            prop_assert_eq!(read, Some(json!({"key": [format!("{text}…"), {"a…b": 1}]})));
        }
        let mut changed = value;
        prop_assert!(redactor.redact_value(&mut changed));
        prop_assert_eq!(changed, json!({"key": [format!("{text}…"), {"a…b": 1}]}));
    }

    #[test]
    fn no_beginning_of_a_cut_secret_is_left(secret in "[g-z/+=%&\"\\\\ä€😀-]{8,40}", cut in 0_usize..400) {
        let redactor = Redactor::from(vec![secret.clone()]);
        let first: String = secret.chars().take(4).collect();
        for (spelling, first) in spellings(&secret).into_iter().zip(spellings(&first)) {
            let text = format!("key: {spelling}");
            let cut = (0..=cut.min(text.len())).rev().find(|cut| text.is_char_boundary(*cut)).unwrap();
            let shown = Unread::cut(&text[..cut]).text(&redactor);
            prop_assert!(!shown.as_str().contains(&first), "{shown}");
        }
    }

    #[test]
    fn other_texts_stay_as_they_are(text in "[a-z\\\\/%+ \"ä0-9]{0,60}") {
        let redactor = Redactor::from(vec!["SECRET/123+".to_owned()]);
        prop_assert_eq!(redactor.redact(&text), text.clone());
        prop_assert_eq!(Redactor::new().redact(&text), text);
    }
}

#[test]
fn secrets_have_marks_and_a_minimum_length() {
    let mut redactor = Redactor::new();
    redactor.add("short");
    assert!(redactor.is_empty());
    redactor.add_marked("abcdefgh", "[A]");
    redactor.add_marked("defghijk", "[B]");
    assert_eq!(redactor.redact("abcdefgh defghijk abcdefghijk"), "[A] [B] [A]");
    assert_eq!(format!("{redactor:?}"), "Redactor { secrets: 2, .. }");
    assert_eq!(format!("{:?}", Unread::new("abcdefgh")), "Unread { bytes: 8, .. }");
}
