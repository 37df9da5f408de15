// Credentials.swift — what proves to a server who asks. Never logged.

import HTTPTypes
import TidemarkEvents

/// What proves to a server who asks; added to each request, never logged.
public struct Credentials: Sendable {
    let headers: HTTPFields

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

    /// A bearer token.
    public static func bearer(_ token: String) -> Credentials { authorization("Bearer \(token)") }
}
