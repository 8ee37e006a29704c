//! Signatures of deliveries to webhooks, by Standard Webhooks (API.md, 15).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hkdf::hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

use crate::domain::WebhookSecret;

/// Returns the text of `webhook-signature`: `v1,` and the HMAC-SHA256 of id, time and body, with dots between them, in
/// base64. The time is in seconds since 1970.
pub fn webhook_signature(secret: &WebhookSecret, id: &str, seconds: i64, body: &str) -> String {
    // A key of any length is valid.
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(secret.reveal()) else {
        return String::new();
    };
    for part in [id, ".", &seconds.to_string(), ".", body] {
        mac.update(part.as_bytes());
    }
    format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes()))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test panics")]
mod tests {
    use super::*;

    /// The example of the specification of Standard Webhooks.
    #[test]
    fn example_of_the_specification_is_reproduced() {
        let secret = WebhookSecret::parse("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap();
        let body = r#"{"test": 2432232314}"#;
        let signature =
            webhook_signature(&secret, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1_614_265_330, body);
        assert_eq!(signature, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }
}
