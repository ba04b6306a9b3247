//! Who may be spoken to: patterns of hosts, and addresses that are not public.

use ipnet::IpNet;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

/// The port of a pattern that names none: HTTPS.
const USUAL_PORT: u16 = 443;

/// Which hosts a grant is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum HostPattern {
    /// Whatever the other sides allow.
    Any,
    /// This host, in lower case, and this port.
    Host(String, u16),
    /// Any host whose name ends like this (`.example.com`), and this port.
    Under(String, u16),
    /// Any host with an address in this network, on any port. Also what makes a private address reachable.
    Network(IpNet),
}

impl FromStr for HostPattern {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "*" {
            return Ok(Self::Any);
        }
        if let Ok(network) = text.parse::<IpNet>() {
            return Ok(Self::Network(network));
        }
        let (host, port) = split_port(text)?;
        let host = host.to_ascii_lowercase();
        let name = host.strip_prefix('*').unwrap_or(&host);
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
        let address = name.trim_matches(['[', ']']).parse::<IpAddr>();
        if name.is_empty() || !(name.chars().all(plain) || address.is_ok()) {
            return Err(format!("'{text}' is no host: write host:port, *.domain:port or a network such as 10.0.0.0/8"));
        }
        match host.strip_prefix('*') {
            Some(suffix) if suffix.starts_with('.') => Ok(Self::Under(suffix.to_owned(), port)),
            Some(_) => Err(format!("'{text}': a * stands for whole labels: *.example.com")),
            None => Ok(Self::Host(address.map_or(host, |address| address.to_string()), port)),
        }
    }
}

/// The host and the port behind its last colon. The colons of an IPv6 address stand in brackets.
fn split_port(text: &str) -> Result<(&str, u16), String> {
    let after = text.rfind(']').map_or(0, |at| at + 1);
    match text[after..].rfind(':') {
        None => Ok((text, USUAL_PORT)),
        Some(at) => {
            let port = text[after + at + 1..].parse().map_err(|_| format!("'{text}': the port is no number"))?;
            Ok((&text[..after + at], port))
        }
    }
}

impl fmt::Display for HostPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any => f.write_str("*"),
            Self::Host(host, port) if host.contains(':') => write!(f, "[{host}]:{port}"),
            Self::Host(host, port) => write!(f, "{host}:{port}"),
            Self::Under(suffix, port) => write!(f, "*{suffix}:{port}"),
            Self::Network(network) => network.fmt(f),
        }
    }
}

impl HostPattern {
    /// Whether a host (in lower case, an address without brackets) and port are meant.
    pub(crate) fn matches(&self, host: &str, port: u16) -> bool {
        match self {
            Self::Any => true,
            Self::Host(name, wanted) => name == host && *wanted == port,
            Self::Under(suffix, wanted) => host.ends_with(suffix.as_str()) && *wanted == port,
            Self::Network(network) => host.parse().is_ok_and(|address: IpAddr| network.contains(&address)),
        }
    }

    /// Whether everything that `other` means is meant by this pattern too.
    pub(crate) fn covers(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Any, _) => true,
            (_, Self::Host(host, port)) => self.matches(host, *port),
            (Self::Under(suffix, port), Self::Under(inner, other)) => inner.ends_with(suffix.as_str()) && port == other,
            (Self::Network(network), Self::Network(inner)) => network.contains(inner),
            (Self::Host(..) | Self::Under(..) | Self::Network(_), _) => false,
        }
    }

    /// Whether this pattern names the address itself, so that it is meant although it is private.
    pub(crate) fn names(&self, address: IpAddr) -> bool {
        match self {
            Self::Any | Self::Under(..) => false,
            Self::Host(host, _) => host.parse() == Ok(address),
            Self::Network(network) => network.contains(&address),
        }
    }
}

/// Whether an address is one that everybody can reach. What is left out: this machine, private and link-local networks
/// (where clouds answer with credentials), and ranges set aside by IANA
/// (<https://www.iana.org/assignments/iana-ipv4-special-registry>).
pub(crate) fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => is_public_v4(v4),
        IpAddr::V6(v6) => is_public_v6(v6),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    let shared = a == 100 && (64..128).contains(&b);
    let benchmark = a == 198 && (18..20).contains(&b);
    let protocol = a == 192 && b == 0 && c == 0;
    !(a == 0
        || a >= 240
        || shared
        || benchmark
        || protocol
        || address.is_loopback()
        || address.is_private()
        || address.is_link_local()
        || address.is_multicast()
        || address.is_documentation())
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    if let Some(v4) = embedded_v4(address) {
        return is_public_v4(v4);
    }
    let [first, second, ..] = address.segments();
    let global_unicast = first & 0xe000 == 0x2000;
    let documentation = first == 0x2001 && second == 0xdb8;
    global_unicast && !documentation
}

/// The IPv4 address that an IPv6 address stands for: mapped (RFC 4291), by NAT64 (RFC 6052) or 6to4 (RFC 3056).
fn embedded_v4(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let segments = address.segments();
    let from = |high: u16, low: u16| Ipv4Addr::from((u32::from(high) << 16) | u32::from(low));
    match segments {
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => Some(from(high, low)),
        [0x2002, high, low, ..] => Some(from(high, low)),
        _ => address.to_ipv4_mapped(),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn pattern(text: &str) -> HostPattern {
        text.parse().unwrap()
    }

    #[test]
    fn patterns_match_hosts_and_ports() {
        assert!(pattern("API.example.com").matches("api.example.com", 443));
        assert!(!pattern("api.example.com").matches("api.example.com", 80));
        assert!(pattern("api.example.com:8080").matches("api.example.com", 8080));
        assert!(pattern("*.example.com").matches("a.b.example.com", 443));
        assert!(!pattern("*.example.com").matches("example.com", 443), "a domain is not under itself");
        assert!(!pattern("*.example.com").matches("evilexample.com", 443));
        assert!(pattern("[::1]:80").matches("::1", 80));
        assert!(pattern("10.0.0.0/8").matches("10.1.2.3", 9999));
        assert!(pattern("*").matches("anything", 1));
        for wrong in ["", "*", "*example.com", "a b", "http://x", "x:99999", "x:y", "*:443"] {
            assert!(wrong == "*" || wrong.parse::<HostPattern>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_pattern_covers_what_it_holds() {
        for (wide, narrow) in [
            ("*", "*"),
            ("*.b.c", "a.b.c"),
            ("*.c", "*.b.c"),
            ("10.0.0.0/8", "10.1.0.0/16"),
            ("10.0.0.0/8", "10.1.1.1:5"),
        ] {
            assert!(pattern(wide).covers(&pattern(narrow)), "{wide} {narrow}");
        }
        for (narrow, wide) in [("a.b", "*"), ("*.b.c", "*.c"), ("a.b", "a.b:80"), ("10.1.0.0/16", "10.0.0.0/8")] {
            assert!(!pattern(narrow).covers(&pattern(wide)), "{narrow} {wide}");
        }
    }

    #[test]
    fn a_private_address_is_meant_only_where_it_is_named() {
        let address = "127.0.0.1".parse().unwrap();
        assert!(pattern("127.0.0.1:80").names(address) && pattern("127.0.0.0/8").names(address));
        assert!(!pattern("localhost:80").names(address) && !pattern("*").names(address));
    }

    #[test]
    fn what_not_everybody_can_reach_is_not_public() {
        let private = "0.0.0.0 10.1.1.1 100.64.0.1 127.0.0.1 169.254.169.254 172.16.0.1 192.168.1.1 192.0.0.8 198.18.0.1 \
                       224.0.0.1 255.255.255.255 :: ::1 fe80::1 fc00::1 fd00:ec2::254 ff02::1 ::ffff:127.0.0.1 \
                       64:ff9b::a00:1 2002:7f00:1:: 2001:db8::1";
        for address in private.split_whitespace() {
            assert!(!is_public(address.parse().unwrap()), "{address}");
        }
        for address in ["93.184.216.34", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808"] {
            assert!(is_public(address.parse().unwrap()), "{address}");
        }
    }
}
