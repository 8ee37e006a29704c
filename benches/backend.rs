//! The signature backend in use, to be printed with every result.

/// The backend of curve25519-dalek that runs in this build and on this processor, and why.
///
/// `RUSTFLAGS` in the environment replaces the flags of `.cargo/config.toml`, so that a build may silently
/// lack the AVX-512 code.
#[allow(unexpected_cfgs, reason = "a setting of curve25519-dalek, not of this crate")]
pub fn signature_backend() -> &'static str {
    match (cfg!(curve25519_dalek_backend = "avx512"), has_ifma(), has_avx2()) {
        (true, true, _) => "curve25519-dalek with AVX-512 IFMA",
        (true, false, true) => "curve25519-dalek with AVX2: the processor has no AVX-512 IFMA",
        (false, true, _) => {
            "curve25519-dalek with AVX2: built without curve25519_dalek_backend=\"avx512\", \
             though the processor has AVX-512 IFMA"
        }
        (false, false, true) => {
            "curve25519-dalek with AVX2: built without curve25519_dalek_backend=\"avx512\""
        }
        (_, false, false) => "curve25519-dalek without vector instructions",
    }
}

#[cfg(target_arch = "x86_64")]
fn has_ifma() -> bool {
    is_x86_feature_detected!("avx512ifma") && is_x86_feature_detected!("avx512vl")
}

#[cfg(target_arch = "x86_64")]
fn has_avx2() -> bool {
    is_x86_feature_detected!("avx2")
}

#[cfg(not(target_arch = "x86_64"))]
fn has_ifma() -> bool {
    false
}

#[cfg(not(target_arch = "x86_64"))]
fn has_avx2() -> bool {
    false
}
