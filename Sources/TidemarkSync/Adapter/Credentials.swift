// Credentials.swift — the header fields that authenticate requests. Never logged.

import HTTPTypes
import TidemarkEvents

/// Header fields that authenticate requests; added to each request, never logged.
///
/// Credentials that a server echoes are masked before anything is logged: the whole value, its
/// token, name and password, also in Base64. An answer with credentials in an id, a version or a
/// page token is `malformed`. A value of less than eight bytes is only found within the whole.
public struct Credentials: Sendable {
    let headers: HTTPFields
    /// Finds the credentials in answers, so that none of it is kept.
    let mask: CredentialMask

    private init(headers: HTTPFields) {
        self.headers = headers
        mask = CredentialMask(headers.map(\.value))
    }

    /// No credentials.
    public static var none: Credentials { Credentials(headers: [:]) }

    /// The value of the Authorization field, as it is.
    public static func authorization(_ value: String) -> Credentials {
        Credentials(headers: [.authorization: value])
    }

    /// HTTP Basic: a name and a password.
    public static func basic(user: String, password: String) -> Credentials {
        authorization("Basic " + Base64.encode(Array("\(user):\(password)".utf8)))
    }

    /// A token, as OAuth 2.0 gives one.
    public static func bearer(_ token: String) -> Credentials { authorization("Bearer \(token)") }

    /// A header field of another name, as `X-API-Key`, with its whole value.
    ///
    /// - Precondition: the name is one that a header field can have.
    public static func field(_ name: String, _ value: String) -> Credentials {
        guard let name = HTTPField.Name(name) else {
            preconditionFailure("\(name) is no name of a header field")
        }
        return Credentials(headers: [name: value])
    }
}

/// The closure that gives credentials took longer than the run has time.
struct CredentialsLate: Error {}

/// The credentials of one sync run: asked for once, and once more each time that they are no longer
/// accepted.
struct SyncProof: Sendable {
    private(set) var credentials = Credentials.none
    /// How often in a row they were refused.
    private(set) var refusals = 0
    private let ask: @Sendable () async throws -> Credentials

    init(ask: @escaping @Sendable () async throws -> Credentials) { self.ask = ask }

    /// Asks for the first time.
    ///
    /// - Returns: why the run ends; nil when there are credentials.
    mutating func begin() async -> SyncFailure? {
        do { credentials = try await ask() } catch {
            if error is CredentialsLate { return .deadline }
            if error is CancellationError { return Task.isCancelled ? .cancelled : .unauthorized }
            // A closure may say itself that it is the network that failed.
            let failure =
                (error as? TransportError).map { SyncFailure($0) } ?? (error as? SyncFailure)
            return failure.flatMap(Self.told) ?? .unauthorized
        }
        return nil
    }

    /// What a closure says of why there are no credentials; nil for what only a run can say.
    private static func told(_ failure: SyncFailure) -> SyncFailure? {
        switch failure {
        case .cancelled: Task.isCancelled ? failure : nil
        case .deadline, .backoff, .gated: nil
        default: failure
        }
    }

    /// Notes that the server answered a request with these credentials otherwise: where it refuses
    /// them later, they have expired.
    mutating func accepted() { refusals = 0 }

    /// Notes that the server did not accept the credentials.
    mutating func refused() { refusals += 1 }

    /// Asks once more, after the server did not accept the credentials.
    ///
    /// - Parameter mayBeSame: whether the same ones will do.
    /// - Returns: why the run ends, also where others were refused just before; nil when the app
    ///   gave different credentials.
    mutating func renew(mayBeSame: Bool = false) async -> SyncFailure? {
        refused()
        guard refusals == 1 else { return .unauthorized }
        let before = credentials.headers
        if let failure = await begin() { return failure }
        return credentials.headers == before && !mayBeSame ? .unauthorized : nil
    }
}
