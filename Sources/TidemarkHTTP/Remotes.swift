// Remotes.swift — the servers that can be synced with, by adapter name: the parameters that each
// needs, and the defaults that it gives to a model.

public import Tidemark
public import TidemarkEvents
public import TidemarkSync

/// A server adapter that a model can name.
private struct KnownAdapter: Sendable {
    let name: String
    /// The members that the remote must have, each with its description.
    var parameters: [(name: String, line: String)] = []
    /// Members that it may have.
    var options: [(name: String, line: String)] = []
    /// The defaults that it gives to collections.
    var defaults = AdapterDefaults()
    /// Which words of its server are no secrets.
    let words: ServerWords
    /// Makes the adapter for a remote that has all parameters.
    let make: @Sendable (Remote, [String]) throws(ModelError) -> any ServerAdapter

    /// The member with the version of a DHIS2 server.
    static let version = "version"

    /// The member with the app's name.
    static let createdWith = "createdWith"

    /// The member that says that the server heeds preconditions, and its value.
    static let preconditions = (name: Remote.preconditions, heeded: "heeded")

    private static let home = [
        (
            name: "home",
            line: "The path in which the collections lie, of webdav the root of the tree, "
                + "percent-encoded, as in \"/user/\"."
        )
    ]

    static let all: [KnownAdapter] = [
        KnownAdapter(
            name: "kinto", parameters: [("bucket", "The bucket with the collections.")],
            defaults: AdapterDefaults(lastChangeField: "last_modified"),
            words: KintoAdapter.words,
            make: { KintoAdapter(origin: $0.origin, bucket: $1[0]) }),
        KnownAdapter(
            name: "caldav", parameters: home, words: CalDAVAdapter.words,
            make: { CalDAVAdapter(origin: $0.origin, home: $1[0], content: .events) }),
        KnownAdapter(
            name: "carddav", parameters: home, words: CalDAVAdapter.words,
            make: { CalDAVAdapter(origin: $0.origin, home: $1[0], content: .contacts) }),
        KnownAdapter(
            name: "webdav", parameters: home,
            options: [
                (
                    name: preconditions.name,
                    line: "\"heeded\" where the server is known to heed If-Match and "
                        + "If-None-Match; else that is found out by the first upload."
                )
            ],
            words: WebDAVAdapter.words,
            make: { remote, values throws(ModelError) in
                let told = remote.parameters[preconditions.name]
                guard told == nil || told == preconditions.heeded else {
                    throw ModelError(
                        "remote.\(preconditions.name)",
                        "it is \"\(preconditions.heeded)\", or left out")
                }
                return WebDAVAdapter(
                    origin: remote.origin, home: values[0], heedsPreconditions: told != nil)
            }),
        KnownAdapter(
            name: "toggl",
            options: [
                (
                    name: createdWith,
                    line: "The app's name, as time entries have it: \"tidemark\" unless given."
                )
            ],
            words: TogglAdapter.words,
            make: { remote, _ in
                TogglAdapter(
                    createdWith: remote.parameters[createdWith] ?? TogglAdapter.usualCreatedWith)
            }),
        KnownAdapter(
            name: "dhis2",
            parameters: [
                (version, "The server's version, as in \"2.41\": it says what it calls things.")
            ],
            words: Dhis2Adapter.words,
            make: { _, values throws(ModelError) in
                do throws(Dhis2VersionError) {
                    return Dhis2Adapter(try Dhis2Dialect(version: values[0]))
                } catch { throw ModelError("remote.\(version)", error.description) }
            }),
    ]

    static subscript(name: String) -> KnownAdapter? { all.first { $0.name == name } }
}

extension TogglAdapter {
    /// What the app is called says nothing of where the data lies.
    public func place(in parameters: [String: String]) -> [String: String] {
        parameters.filter { $0.key != KnownAdapter.createdWith }
    }
}

extension Dhis2Adapter {
    /// Of the version it matters by which names things are stored: there are others from 2.40 on.
    public func place(in parameters: [String: String]) -> [String: String] {
        guard let version = parameters[KnownAdapter.version],
            let dialect = try? Dhis2Dialect(version: version)
        else { return parameters }
        var place = parameters
        place[KnownAdapter.version] = dialect.generation == .old ? "up to 2.39" : "from 2.40 on"
        return place
    }
}

extension AdapterMembers {
    /// The members that a model must have for a server, by adapter.
    package static var known: [AdapterMembers] {
        KnownAdapter.all.map {
            AdapterMembers($0.name, parameters: $0.parameters, options: $0.options)
        }
    }
}

extension Remote {
    /// A bucket of a Kinto server.
    public static func kinto(origin: String, bucket: String) -> Remote {
        Remote(origin: origin, adapter: "kinto", parameters: ["bucket": bucket])
            .withAdapterDefaults
    }

    /// The calendars below a path of a CalDAV server, such as `/user/`.
    public static func caldav(origin: String, home: String) -> Remote {
        Remote(origin: origin, adapter: "caldav", parameters: ["home": home]).withAdapterDefaults
    }

    /// The address books below a path of a CardDAV server.
    public static func carddav(origin: String, home: String) -> Remote {
        Remote(origin: origin, adapter: "carddav", parameters: ["home": home]).withAdapterDefaults
    }

    /// The files and folders below a path of a WebDAV server, such as `/dav/files/user/`.
    ///
    /// - Parameter heedsPreconditions: whether the server is known to heed `If-Match` and
    ///   `If-None-Match`; else that is found out by the first upload.
    public static func webdav(
        origin: String, home: String, heedsPreconditions: Bool = false
    ) -> Remote {
        var parameters = ["home": home]
        if heedsPreconditions {
            parameters[KnownAdapter.preconditions.name] = KnownAdapter.preconditions.heeded
        }
        return Remote(
            origin: origin, adapter: "webdav", parameters: parameters
        ).withAdapterDefaults
    }

    /// Toggl, or a server that speaks as Toggl does.
    ///
    /// - Parameters:
    ///   - origin: the address before `/api/v9`.
    ///   - createdWith: the app's name, as Toggl's time entries have it; must not be empty.
    public static func toggl(
        origin: String, createdWith: String = TogglAdapter.usualCreatedWith
    ) -> Remote {
        let isUsual = createdWith == TogglAdapter.usualCreatedWith
        return Remote(
            origin: origin, adapter: "toggl",
            parameters: isUsual ? [:] : [KnownAdapter.createdWith: createdWith]
        ).withAdapterDefaults
    }

    /// A DHIS2 server of a version, as in `2.41`: ``Dhis2SystemInfo`` asks for it.
    ///
    /// Another version may call what is synced otherwise; the id of tracked entities has another
    /// name from 2.40 on. A store goes on with another version, but not over that one.
    public static func dhis2(origin: String, version: String) -> Remote {
        Remote(
            origin: origin, adapter: "dhis2", parameters: [KnownAdapter.version: version]
        ).withAdapterDefaults
    }

    /// The remote with its adapter's defaults for collections, where it has none of its own.
    package var withAdapterDefaults: Remote {
        var remote = self
        if defaults == AdapterDefaults(), let known = KnownAdapter[adapter] {
            remote.defaults = known.defaults
        }
        return remote
    }

    /// The words of its server, for a ``Redaction``; none where its adapter is not known.
    public var words: ServerWords { KnownAdapter[adapter]?.words ?? ServerWords() }

    /// The adapter that the remote names.
    ///
    /// - Throws: ``ModelError`` when there is no adapter of that name, a parameter is missing, or
    ///   the remote holds something that may be a credential.
    public func makeAdapter() throws(ModelError) -> any ServerAdapter {
        try check()
        guard let known = KnownAdapter[adapter] else {
            let names = KnownAdapter.all.map { "\"\($0.name)\"" }
            throw ModelError(
                "remote.adapter",
                "\"\(adapter)\" is not known; \(names.joined(separator: ", ")) are")
        }
        var values: [String] = []
        for (name, line) in known.parameters {
            guard let value = parameters[name] else {
                throw ModelError("remote.\(name)", "it is needed for \(adapter): \(line)")
            }
            values.append(value)
        }
        for (name, line) in known.options where parameters[name]?.isEmpty == true {
            throw ModelError("remote.\(name)", "it is empty; leave it out, or give it: \(line)")
        }
        return try known.make(self, values)
    }
}

extension ModelRegistration {
    /// The registration with the adapter's defaults for collections.
    ///
    /// - Throws: ``ModelError`` when the adapter is not known, the remote lacks what it needs, or
    ///   the model asks for what the adapter can't do.
    package func withAdapterDefaults() throws(ModelError) -> ModelRegistration {
        var registration = self
        let adapter = try remote?.makeAdapter()
        registration.remote = remote?.withAdapterDefaults
        registration = try registration.checked()
        try adapter?.check(registration)
        return registration
    }
}

extension SyncEngine {
    /// An engine for the server that the remote names, over HTTP.
    ///
    /// - Throws: ``TidemarkError`` `invalidModel` when there is no adapter of the remote's name, a
    ///   parameter is missing, or the remote holds something that may be a credential.
    public init(
        _ replica: Replica, remote: Remote, transport: any Transport = .urlSession,
        limits: TransportLimits = TransportLimits(),
        credentials: @escaping @Sendable () async throws -> Credentials
    ) throws {
        let adapter: any ServerAdapter
        do { adapter = try remote.makeAdapter() } catch { throw TidemarkError.wrapping(error) }
        self.init(
            replica, remote: remote.withAdapterDefaults, adapter: adapter,
            transport: transport, limits: limits, credentials: credentials)
    }
}
