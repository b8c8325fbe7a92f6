//! Tests that the limit holds for every text, and that the kept parts come from it.

use super::super::{Content, Media, ToolOutput};
use super::*;
use proptest::prelude::*;
use serde_json::json;
use std::future::Ready;
use std::pin::pin;
use std::sync::Mutex;
use std::task::{Context, Poll, Waker};

const STRATEGIES: [TruncationStrategy; 3] =
    [TruncationStrategy::Head, TruncationStrategy::Tail, TruncationStrategy::HeadTail];

fn now<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("it waits"),
    }
}

#[test]
fn each_strategy_keeps_its_part_and_counts_the_missing_characters() {
    let text = "0123456789".repeat(20);
    for (strategy, expected) in [
        (TruncationStrategy::Head, "0123456789\n... (truncated 190 chars) ..."),
        (TruncationStrategy::Tail, "... (truncated 190 chars) ...\n0123456789"),
        (TruncationStrategy::HeadTail, "0123\n... (truncated 191 chars) ...\n56789"),
    ] {
        assert_eq!(strategy.cut(&text, 40), expected);
        assert_eq!(strategy.cut(&text, 200), text);
    }
}

#[test]
fn the_missing_count_may_have_more_digits_than_the_excess() {
    let cut = TruncationStrategy::Head.cut(&"x".repeat(100), 95).into_owned();
    assert_eq!(cut, format!("{}\n... (truncated 34 chars) ...", "x".repeat(66)));
    let cut = TruncationStrategy::Head.cut(&"x".repeat(142), 70).into_owned();
    assert_eq!(cut, format!("{}\n... (truncated 102 chars) ...", "x".repeat(40)));
}

#[test]
fn without_room_for_a_note_an_ellipsis_marks_the_cut() {
    assert_eq!(TruncationStrategy::Head.cut("0123456789", 4), "012…");
    assert_eq!(TruncationStrategy::HeadTail.cut("0123456789", 4), "012…");
    assert_eq!(TruncationStrategy::Tail.cut("0123456789", 4), "…789");
    assert_eq!(TruncationStrategy::Tail.cut("0123456789", 0), "");
}

#[test]
fn media_stay_and_texts_become_one() {
    let output = ToolOutput::new(vec![
        Content::Text("a".repeat(30)),
        Media::new("image/png", b"\x89PNG").into(),
        ToolOutput::json(&json!({"b": "b".repeat(30)})).unwrap().content()[0].clone(),
        Content::Text("c".repeat(30)),
    ]);
    let short = now(Truncation::new(50).apply("t", None, output.clone()));
    let [Content::Text(text), Content::Image(_)] = short.content() else { panic!("{short:?}") };
    let [head, tail] = ["a", "c"].map(|letter| letter.repeat(10));
    assert_eq!(*text, format!("{head}\n... (truncated 80 chars) ...\n{tail}"));
    let whole = now(Truncation::new(200).apply("t", None, output.clone()));
    assert_eq!(whole, output);
    let json = ToolOutput::json(&vec![1; 100]).unwrap();
    assert!(matches!(now(Truncation::new(60).apply("t", None, json)).content(), [Content::Text(_)]));
}

#[test]
fn the_sink_gets_the_full_text_and_its_failure_is_not_the_calls() {
    let kept = Arc::new(Mutex::new(Vec::new()));
    let shelf = kept.clone();
    let truncation = Truncation::new(70).with_sink(move |full: FullOutput| {
        let id = full.call_id.map(String::from);
        shelf.lock().unwrap().push((full.tool, id, full.text, full.is_json));
        std::future::ready(Ok("/tmp/1".to_owned()))
    });
    let json = ToolOutput::json(&vec![1; 100]).unwrap();
    let text = json.to_text().into_owned();
    let short = now(truncation.apply("read", Some(&"call_1".into()), json));
    assert!(short.to_text().contains(", full output: /tmp/1) ..."), "{short:?}");
    assert_eq!(*kept.lock().unwrap(), [("read".to_owned(), Some("call_1".to_owned()), text, true)]);
    assert_eq!(now(truncation.apply("read", None, ToolOutput::text("short"))).to_text(), "short");
    assert_eq!(kept.lock().unwrap().len(), 1);

    let failing = Truncation::new(90).with_sink(|_: FullOutput| async { Err("the disk is full".into()) });
    let panicking =
        Truncation::new(90).with_sink(|_: FullOutput| -> Ready<Result<String, _>> { panic!("no luck") });
    let panicking_later = Truncation::new(90).with_sink(|_: FullOutput| async { panic!("no luck later") });
    for truncation in [failing, panicking, panicking_later] {
        let short = now(truncation.apply("read", None, ToolOutput::text("x".repeat(1_000))));
        assert!(short.to_text().contains("the full output could not be kept"), "{short:?}");
    }
}

#[test]
fn the_location_is_left_out_if_there_is_no_room() {
    let truncation = Truncation::new(40).with_sink(|_: FullOutput| async { Ok("p".repeat(100)) });
    let short = now(truncation.apply("read", None, ToolOutput::text("x".repeat(90))));
    assert_eq!(short.to_text(), "xxxxx\n... (truncated 80 chars) ...\nxxxxx");
}

proptest! {
    #[test]
    fn the_limit_holds(
        texts in proptest::collection::vec("|.{0,80}", 0..6),
        limit in prop_oneof![0_usize..6, 0_usize..200],
        strategy in 0_usize..3,
    ) {
        let strategy = STRATEGIES[strategy];
        let output = ToolOutput::new(texts.into_iter().map(Content::Text).collect());
        let whole = output.to_text().into_owned();
        let short = now(Truncation::new(limit).with_strategy(strategy).apply("t", None, output));
        let text = short.to_text();
        prop_assert!(text.chars().count() <= limit, "{text}");
        if whole.chars().count() <= limit {
            prop_assert_eq!(text, whole);
        }
    }

    #[test]
    fn the_kept_text_is_the_beginning_and_the_end(text in "[a-z日é]{60,300}", limit in 40_usize..60) {
        let cut = TruncationStrategy::HeadTail.cut(&text, limit).into_owned();
        prop_assert_eq!(cut.chars().count(), limit);
        let (head, rest) = cut.split_once("\n... (truncated ").unwrap();
        let (missing, tail) = rest.split_once(" chars) ...\n").unwrap();
        prop_assert!(text.starts_with(head) && text.ends_with(tail));
        let kept = head.chars().count() + tail.chars().count();
        prop_assert_eq!(kept + missing.parse::<usize>().unwrap(), text.chars().count());
    }
}
