// CredentialsAsking.swift — whether something happens within the closure that gives credentials.
// A run waits for it: what waits there for that run would wait for itself.

import Foundation
import TidemarkStore
import TidemarkSync

/// The calls of one engine to its closure.
final class CredentialsAsking: Sendable {
    /// The engine within whose closure a task is.
    @TaskLocal private static var current: ObjectIdentifier?
    private let open = Lock(0)

    /// Gives what the closure gives.
    ///
    /// - Throws: what it throws; ``TransportError`` where that is an error of the platform's
    ///   network.
    func during<Result: Sendable>(
        _ ask: @Sendable () async throws -> Result
    ) async throws -> Result {
        open.withLock { $0 += 1 }
        defer { open.withLock { $0 -= 1 } }
        do {
            return try await Self.$current.withValue(ObjectIdentifier(self)) { try await ask() }
        } catch {
            if let failure = TransportError(platform: error) { throw failure }
            throw error
        }
    }

    /// Whether this is within the closure, or in a task that began there while it lasts.
    var isInside: Bool {
        Self.current == ObjectIdentifier(self) && open.withLock { $0 > 0 }
    }

    /// - Throws: ``TidemarkError``: `nested` within the closure.
    func refuse(_ what: String) throws {
        guard isInside else { return }
        throw TidemarkError(
            .nested,
            "\(what) was asked for within the closure that gives credentials, for which one waits: "
                + "ask for it after the closure has returned")
    }
}

extension TransportError {
    /// What an error of the platform's network means; nil for any other.
    fileprivate init?(platform error: any Error) {
        let other = error as NSError
        let known = (error as? URLError)?.errorCode
        guard let number = known ?? (other.domain == NSURLErrorDomain ? other.code : nil),
            let code = TransportFailures.ofNetwork(number)
        else { return nil }
        self.init(code, detail: "URLError \(number)")
    }
}
