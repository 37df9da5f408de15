// Dhis2SystemInfo.swift — what a DHIS2 server says of itself, asked for before there is a model:
// what its version is, and so what it calls things.

import HTTPTypes
import TidemarkEvents
public import TidemarkSync

/// What a DHIS2 server says of itself: `GET api/system/info`.
public struct Dhis2SystemInfo: Sendable, Hashable {
    /// Its version, as it says it, `2.41.0`: one that can be synced with.
    public let version: String
    /// Its time, in its own words and zone; nil where it tells none.
    ///
    /// Nothing goes by it: lists go on at the changes that they brought.
    public let serverDate: String?

    /// The field of the model's `trackedEntities` that holds their id.
    public let trackedEntityIDField: String

    /// Reads the answer of a server.
    ///
    /// - Throws: `SyncFailure.malformed` where it tells no version, and
    ///   `SyncFailure.client` for one that is none of DHIS2, or too old.
    public init(parsing body: [UInt8]) throws(SyncFailure) {
        guard let info = (try? JSONValue(parsing: body))?.object else {
            throw .malformed("system/info is no JSON object")
        }
        guard let version = info["version"]?.stringValue else {
            throw .malformed("system/info tells no version")
        }
        let dialect: Dhis2Dialect
        do throws(Dhis2VersionError) { dialect = try Dhis2Dialect(version: version) } catch {
            throw .client(status: 0, error.description)
        }
        self.version = version
        serverDate = info["serverDate"]?.stringValue
        trackedEntityIDField = dialect.idField(of: .trackedEntities)
    }

    /// Asks a server; nothing is logged, and no store is needed.
    ///
    /// - Parameters:
    ///   - origin: the address before `/api`.
    ///   - transport: how it is asked.
    ///   - credentials: whoever may sign in may ask.
    /// - Throws: `SyncFailure`, as a sync run would tell it.
    public static func ask(
        origin: String, transport: any Transport = .urlSession, credentials: Credentials
    ) async throws(SyncFailure) -> Dhis2SystemInfo {
        let request = ServerRequest(method: .get, path: "/api/system/info")
        let answer = try await transport.ask(request, of: origin, credentials)
        let status = answer.response.status.code
        guard status == 200 else {
            throw SyncFailure(
                status: status, headerFields: answer.response.headerFields,
                message: JSON.value("message", of: answer.body)?.stringValue ?? "")
        }
        return try Dhis2SystemInfo(parsing: answer.body)
    }
}
