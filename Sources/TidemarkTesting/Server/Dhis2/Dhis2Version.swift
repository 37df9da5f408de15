// Dhis2Version.swift — what a server that behaves like DHIS2 can be: its version, users, rules.

/// A version of DHIS2, by what a client meets: which tracker API there is, and its shapes.
@nonexhaustive public enum Dhis2Version: Int, Sendable, Hashable, CaseIterable, Comparable {
    /// 2.37, here with the old tracker API alone: import summaries, no jobs.
    case v37 = 37
    /// 2.40: both tracker APIs; lists of the new one are `instances`.
    case v40 = 40
    /// 2.41: both tracker APIs; lists of the new one are named by what they hold.
    case v41 = 41
    /// 2.42: the new tracker API alone.
    case v42 = 42

    /// As `system/info` says it.
    public var text: String { "2.\(rawValue).0" }

    /// Earlier versions are smaller.
    public static func < (left: Dhis2Version, right: Dhis2Version) -> Bool {
        left.rawValue < right.rawValue
    }

    var hasOldTracker: Bool { self < .v42 }
    var hasNewTracker: Bool { self > .v37 }
}

/// A user, and the organisation units whose data he may write and find.
public struct Dhis2User: Sendable, Hashable {
    /// His id, of 11 characters.
    public var id: String
    /// The name by which he signs in.
    public var username: String
    /// The value of `Authorization` that is his; nil accepts any value.
    public var authorization: String?
    /// The units below which he writes.
    public var captureUnits: [String]
    /// The units below which he searches; nil where they are ``captureUnits``.
    public var searchUnits: [String]?
    /// Whether he may do everything, as with the authority `ALL`.
    public var isSuperuser: Bool
    /// Programs, program stages and types of tracked entities that he may read and not write.
    public var readOnly: Set<String>

    /// A user.
    public init(
        id: String = "DXyJmlo9rge", username: String = "android", authorization: String? = nil,
        captureUnits: [String] = [], searchUnits: [String]? = nil, isSuperuser: Bool = false,
        readOnly: Set<String> = []
    ) {
        self.id = id
        self.username = username
        self.authorization = authorization
        self.captureUnits = captureUnits
        self.searchUnits = searchUnits
        self.isSuperuser = isSuperuser
        self.readOnly = readOnly
    }
}

/// A rule of a program that complains about a value, as an error or as a warning.
///
/// An error keeps the object that has the value out; a warning lets it in.
public struct Dhis2ValueRule: Sendable, Hashable {
    /// How serious a rule is.
    @nonexhaustive public enum Severity: Sendable, Hashable { case error, warning }

    /// The rule's id.
    public var id: String
    /// The data element or attribute that it is about.
    public var element: String
    /// The value that it complains about; nil for any.
    public var value: String?
    /// What follows.
    public var severity: Severity
    /// What it says.
    public var message: String

    /// A rule; by default an error about any value of an element.
    public init(
        id: String = "ruLe0000001", element: String, value: String? = nil,
        severity: Severity = .error, message: String
    ) {
        self.id = id
        self.element = element
        self.value = value
        self.severity = severity
        self.message = message
    }
}
