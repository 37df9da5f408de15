// RadicaleTests.swift — the suites that talk to a real Radicale, one test after another.

import Testing

@testable import SyncSupport

@Suite(.serialized, .enabled(if: RadicaleClient.isThere, "\(RadicaleClient.reason)"))
struct `with a real CalDAV server` {}
