//! The hosts to which secrets are sent.

use super::*;

/// Checks the hosts of a shared client without a request.
async fn refusals(client: &GenAi, names: &[&str]) -> Vec<Option<String>> {
    let mut refusals = Vec::new();
    for name in names {
        let model = client.model(*name);
        // Without a key, the request fails only after this check.
        let refusal = model.target().await.err().filter(|error| error.message().contains("is for"));
        assert!(refusal.as_ref().is_none_or(|error| error.kind() == ModelErrorKind::Unauthorized));
        refusals.push(refusal.map(|error| error.message().to_owned()));
    }
    refusals
}

#[tokio::test]
async fn a_secret_is_sent_to_one_host() {
    let token = || async { Ok::<_, ModelError>("token") };
    let names = ["groq::a", "groq::b", "anthropic::c"];
    let refused = "the key, token or secret header of this client is for `api.groq.com`, and the model \
                   `anthropic::c` is at `api.anthropic.com`; create another `GenAi` client for it";
    let secret_header = GenAi::new().with_header("x-gateway-token", "secret");
    for client in
        [GenAi::new().with_key("secret"), GenAi::new().with_token_source(token), secret_header.clone()]
    {
        let expected = [None, None, Some(refused.to_owned())];
        assert_eq!(refusals(&client, &names).await, expected);
        // A copy has the same secret; a new key or token may be for another provider.
        assert_eq!(refusals(&client.clone(), &names).await, expected);
        for other in [client.clone().with_key("other"), client.clone().with_token_source(token)] {
            assert_eq!(refusals(&other, &["anthropic::c"]).await, [None]);
        }
        let own = client.with_base_url("http://127.0.0.1:1/v1");
        assert_eq!(refusals(&own, &names).await, [const { None }; 3]);
    }
    // Keys of the environment belong to their providers, and other headers are no secrets.
    for client in [GenAi::new(), GenAi::new().with_header("x-team", "research")] {
        assert_eq!(refusals(&client, &names).await, [const { None }; 3]);
    }
}
