// Dhis2SystemInfoTests.swift — the version that a server tells, and what is no version.

import Foundation
import Testing
import TidemarkEvents
import TidemarkHTTP
import TidemarkSync

@Suite struct `what a DHIS2 server says of itself` {
    private func info(_ text: String) throws(SyncFailure) -> Dhis2SystemInfo {
        try Dhis2SystemInfo(parsing: Array(text.utf8))
    }

    private func failure(_ text: String) -> SyncFailure? {
        do throws(SyncFailure) {
            _ = try info(text)
            return nil
        } catch { return error }
    }

    @Test(arguments: [
        ("2.37.9.1", "trackedEntityInstance"), ("2.40-SNAPSHOT", "trackedEntity"),
        ("2.42.0", "trackedEntity"), ("2.99", "trackedEntity"),
    ])
    func `tells its version, and by that what it calls things`(
        _ version: String, _ field: String
    ) throws {
        let info = try info(#"{"version":"\#(version)","serverDate":"2026-01-02T03:04:05.678"}"#)

        #expect(info.version == version && info.trackedEntityIDField == field)
        #expect(info.serverDate == "2026-01-02T03:04:05.678")
        _ = try Remote.dhis2(origin: "https://a.b", version: info.version).makeAdapter()
    }

    @Test func `needs no date`() throws {
        #expect(try info(#"{"version":"2.41"}"#).serverDate == nil)
    }

    @Test func `is not understood without a version`() {
        #expect(failure("<html>") == .malformed("system/info is no JSON object"))
        #expect(failure("[]") == .malformed("system/info is no JSON object"))
        #expect(failure("{}") == .malformed("system/info tells no version"))
        #expect(failure(#"{"version":2.41}"#) == .malformed("system/info tells no version"))
    }

    @Test func `is of no use with a version of letters, or one that is too old`() {
        #expect(
            failure(#"{"version":"master"}"#)
                == .client(
                    status: 0,
                    "\"master\" is no version of DHIS2; name the server's, as in \"2.41\""))
        let old = "DHIS2 2.28 is older than 2.29, the oldest version that can be synced with"
        #expect(failure(#"{"version":"2.28.3"}"#) == .client(status: 0, old))
        let error = #expect(throws: ModelError.self) {
            _ = try Remote.dhis2(origin: "https://a.b", version: "2.28.3").makeAdapter()
        }
        #expect(error?.path == "remote.version" && error?.problem == old)
    }
}
