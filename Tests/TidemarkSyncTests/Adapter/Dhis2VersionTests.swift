// Dhis2VersionTests.swift — a server that behaves like DHIS2 is asked for its version.

import Testing
import TidemarkHTTP
import TidemarkSync
import TidemarkTesting

@Suite struct `the version of a DHIS2 server` {
    @Test(arguments: [(Dhis2Version.v37, "2.37"), (.v40, "2.40"), (.v42, "2.42")])
    func `is asked of each version`(_ version: Dhis2Version, _ word: String) async throws {
        var model = Dhis2ServerModel()
        model.version = version
        let server = Dhis2Server(model, clock: ManualClock())

        // A server may lie below a path.
        let info = try await Dhis2SystemInfo.ask(
            origin: "http://127.0.0.1/demo", transport: server, credentials: .bearer("token"))
        #expect(info.version.hasPrefix(word), "\(info.version)")
        #expect(server.requestLog.map(\.path) == ["/demo/api/system/info"])
    }

    @Test func `tells by a failure that it does not answer`() async throws {
        let rule = FaultRule(.answer(status: 401), pathContains: "system/info")
        let server = Dhis2Server(faults: FaultPlan([rule]), clock: ManualClock())

        let failure = await #expect(throws: SyncFailure.self) {
            _ = try await Dhis2SystemInfo.ask(
                origin: "http://127.0.0.1", transport: server, credentials: .none)
        }
        #expect(failure == .unauthorized)
    }
}
