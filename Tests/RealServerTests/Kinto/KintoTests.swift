// KintoTests.swift — the suites that talk to a real Kinto server, one test after another.

import Testing

@testable import SyncSupport

/// One after another: on Linux `URLSession` keeps a core busy while the first answer on a new
/// connection is awaited, and many of them at once leave nothing for the server.
@Suite(.serialized, .enabled(if: KintoClient.isThere, "\(KintoClient.reason)"))
struct `with a real Kinto server` {}
