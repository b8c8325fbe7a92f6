//! What OpenTelemetry's exporters receive in memory.

use opentelemetry::KeyValue;
use opentelemetry::trace::{SpanId, SpanKind, Status, TracerProvider};
use opentelemetry_sdk::metrics::data::{
    AggregatedMetrics, Metric, MetricData, ResourceMetrics, ScopeMetrics,
};
use opentelemetry_sdk::metrics::{InMemoryMetricExporter, SdkMeterProvider};
use opentelemetry_sdk::trace::{InMemorySpanExporter, SdkTracerProvider, SpanData};
use std::collections::BTreeMap;
use tracing_opentelemetry::MetricsLayer;
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::layer::{Layer, SubscriberExt};

pub(crate) struct Telemetry {
    pub(crate) spans: Vec<SpanData>,
    /// The measurements of each metric by attributes, or a counter's sum.
    pub(crate) metrics: BTreeMap<String, u64>,
}

pub(crate) fn telemetry(work: impl Future<Output = ()>) -> Telemetry {
    let spans = InMemorySpanExporter::default();
    let tracers = SdkTracerProvider::builder().with_simple_exporter(spans.clone()).build();
    let metrics = InMemoryMetricExporter::default();
    let meters = SdkMeterProvider::builder().with_periodic_exporter(metrics.clone()).build();
    let layer = tracing_opentelemetry::layer()
        .with_tracer(tracers.tracer("test"))
        .with_location(false)
        .with_threads(false)
        .with_target(false)
        .with_tracked_inactivity(false)
        .with_filter(filter_fn(|metadata| metadata.target().starts_with("toolkit")));
    let subscriber = tracing_subscriber::registry().with(layer).with(MetricsLayer::new(meters.clone()));
    tracing::subscriber::with_default(subscriber, || {
        tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work);
    });
    meters.force_flush().unwrap();
    let mut spans = spans.get_finished_spans().unwrap();
    spans.sort_by_key(|span| span.start_time);
    let exported = metrics.get_finished_metrics().unwrap();
    let exported = exported.iter().flat_map(ResourceMetrics::scope_metrics);
    let metrics = exported.flat_map(ScopeMetrics::metrics).flat_map(rows).collect();
    Telemetry { spans, metrics }
}

/// Returns a metric's points: name, attributes, and measurements or a counter's sum.
fn rows(metric: &Metric) -> Vec<(String, u64)> {
    let row = |attributes: &mut dyn Iterator<Item = &KeyValue>, count: u64| {
        let sorted: BTreeMap<_, _> =
            attributes.map(|pair| (pair.key.to_string(), pair.value.to_string())).collect();
        let attributes: Vec<String> = sorted.iter().map(|(key, value)| format!("{key}={value}")).collect();
        (format!("{} {}", metric.name(), attributes.join(" ")), count)
    };
    match metric.data() {
        AggregatedMetrics::F64(MetricData::Histogram(data)) => {
            data.data_points().map(|point| row(&mut point.attributes(), point.count())).collect()
        }
        AggregatedMetrics::U64(MetricData::Histogram(data)) => {
            data.data_points().map(|point| row(&mut point.attributes(), point.count())).collect()
        }
        AggregatedMetrics::U64(MetricData::Sum(data)) => {
            data.data_points().map(|point| row(&mut point.attributes(), point.value())).collect()
        }
        other => panic!("{other:?}"),
    }
}

impl Telemetry {
    /// Returns the spans as a tree, with kinds and error types.
    pub(crate) fn tree(&self) -> String {
        fn branch(spans: &[SpanData], parent: &SpanData, indent: usize, tree: &mut String) {
            let is_failed = matches!(parent.status, Status::Error { .. });
            let error = attribute(parent, "error.type").map(|error| format!(" ({error})"));
            assert_eq!(is_failed, error.is_some(), "{parent:?}");
            let kind = match parent.span_kind {
                SpanKind::Client => " [client]",
                SpanKind::Server => " [server]",
                _ => "",
            };
            let name = &parent.name;
            tree.push_str(&format!("{:indent$}{name}{kind}{}\n", "", error.unwrap_or_default()));
            let id = parent.span_context.span_id();
            for span in spans.iter().filter(|span| span.parent_span_id == id) {
                branch(spans, span, indent + 2, tree);
            }
        }
        let mut tree = String::new();
        for root in self.spans.iter().filter(|span| span.parent_span_id == SpanId::INVALID) {
            branch(&self.spans, root, 0, &mut tree);
        }
        tree
    }

    pub(crate) fn attributes(&self, name: &str) -> BTreeMap<String, String> {
        let span = self.spans.iter().find(|span| span.name == name).expect("such a span");
        let pairs = span.attributes.iter().map(|pair| (pair.key.to_string(), pair.value.to_string()));
        pairs.collect()
    }
}

pub(crate) fn attribute(span: &SpanData, name: &str) -> Option<String> {
    span.attributes.iter().find(|pair| pair.key.as_str() == name).map(|pair| pair.value.to_string())
}
