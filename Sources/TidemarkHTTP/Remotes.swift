// Remotes.swift — the servers that can be synced with, by the name of their adapter.

public import Tidemark
public import TidemarkEvents
public import TidemarkSync

extension Remote {
    /// A bucket of a Kinto server.
    public static func kinto(origin: String, bucket: String) -> Remote {
        Remote(origin: origin, adapter: "kinto", parameters: ["bucket": bucket])
    }

    /// The calendars below a path of a CalDAV server, such as `/user/`.
    public static func caldav(origin: String, home: String) -> Remote {
        Remote(origin: origin, adapter: "caldav", parameters: ["home": home])
    }

    /// The address books below a path of a CardDAV server.
    public static func carddav(origin: String, home: String) -> Remote {
        Remote(origin: origin, adapter: "carddav", parameters: ["home": home])
    }

    /// Toggl, or a server that speaks as Toggl does.
    ///
    /// - Parameter origin: what stands before `/api/v9` and `/reports/api/v3`.
    public static func toggl(origin: String) -> Remote {
        Remote(origin: origin, adapter: "toggl")
    }

    /// The adapter that the remote names.
    ///
    /// - Throws: ``ModelError`` when there is none of that name, a parameter is missing, or the
    ///   remote holds what may be a credential.
    public func makeAdapter() throws(ModelError) -> any ServerAdapter {
        try check()
        switch adapter {
        case "kinto":
            guard let bucket = parameters["bucket"] else {
                throw ModelError("remote.bucket", "the name of a Kinto bucket is needed")
            }
            return KintoAdapter(origin: origin, bucket: bucket)
        case "caldav", "carddav":
            guard let home = parameters["home"] else {
                throw ModelError(
                    "remote.home", "the path in which the collections lie is needed: \"/user/\"")
            }
            return CalDAVAdapter(
                origin: origin, home: home, content: adapter == "caldav" ? .events : .contacts)
        case "toggl": return TogglAdapter()
        default:
            throw ModelError(
                "remote.adapter",
                "\"\(adapter)\" is not known; \"kinto\", \"caldav\", \"carddav\" and \"toggl\" are")
        }
    }
}

extension SyncEngine {
    /// An engine that speaks what the remote names, over HTTP.
    ///
    /// - Throws: ``ModelError`` when the remote's adapter is not known.
    public init(
        _ replica: Replica, remote: Remote, transport: any Transport = .urlSession,
        limits: TransportLimits = TransportLimits(),
        credentials: @escaping @Sendable () async throws -> Credentials
    ) throws(ModelError) {
        self.init(
            replica, remote: remote, adapter: try remote.makeAdapter(), transport: transport,
            limits: limits, credentials: credentials)
    }
}
