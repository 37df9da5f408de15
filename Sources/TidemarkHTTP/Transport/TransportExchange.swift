// TransportExchange.swift — one request in flight: the first ending decides the outcome.
//
// Whoever carries the request out, the deadline's timer and the cancelling task all report here,
// from any thread. After the first ending everything else is ignored, and nothing is written to a
// file of the caller's any more.

package import Foundation
package import HTTPTypes
package import TidemarkSync

/// Collects one answer within its limits and hands the outcome over exactly once.
package final class TransportExchange: @unchecked Sendable {
    // @unchecked because: every variable is only touched while `lock` is held.
    /// The answer, or why there is none.
    package typealias Outcome = Result<TransportTransfer, TransportError>

    /// How many connections there may be to one server: more than the budgets of a model allow.
    static let connectionsMax = 128

    private let lock = NSLock()
    private let method: HTTPRequest.Method
    private let limits: TransportLimits
    private var url: URL
    private var redirects = 0
    private var head: HTTPResponse?
    /// Nil once the exchange has ended, so that a file is closed then.
    private var receiver: TransportReceiver?
    private var outcome: Outcome?
    private var continuation: CheckedContinuation<Outcome, Never>?

    /// An exchange that has not begun; `url` is where the request goes first.
    package init(
        method: HTTPRequest.Method, url: URL, limits: TransportLimits,
        receiver: TransportReceiver
    ) {
        self.method = method
        self.url = url
        self.limits = limits
        self.receiver = receiver
    }

    /// Registers the waiting caller; false when the exchange has already ended and nothing is to be
    /// sent.
    package func start(_ continuation: CheckedContinuation<Outcome, Never>) -> Bool {
        let ended: Outcome? = lock.withLock {
            if outcome == nil { self.continuation = continuation }
            return outcome
        }
        guard let ended else { return true }
        continuation.resume(returning: ended)
        return false
    }

    /// Takes status and header fields; an announced length over the limit ends the exchange, and
    /// so does a body that is not waited for.
    package func receive(head: HTTPResponse?) {
        settle { () throws(TransportError) in
            guard let head else { return nil }
            try begin(head)
            return receiver.flatMap { $0.isOver ? $0.transfer(head) : nil }
        }
    }

    /// Takes the next bytes of the body; one byte over the limit ends the exchange.
    package func receive(body bytes: [UInt8]) {
        settle { () throws(TransportError) in
            guard bytes.count <= limits.responseBytesMax - count else { throw tooLarge }
            try receiver?.take(bytes)
            return nil
        }
    }

    /// Follows or refuses a redirect.
    ///
    /// `follow` gets the target, or nil when it is refused. It is called while the exchange cannot
    /// end, and not at all when it has ended: a task is stopped only after that.
    package func redirect(to location: String?, follow: (URL?) -> Void) {
        settle { () throws(TransportError) in
            do throws(TransportError) {
                url = try TransportRedirects.target(
                    location: location, from: url, method: method, followed: redirects)
            } catch {
                follow(nil)
                throw error
            }
            redirects += 1
            head = nil
            receiver?.drop()
            follow(url)
            return nil
        }
    }

    /// Ends the exchange when the platform reports the answer as complete.
    package func complete(head last: HTTPResponse?) {
        settle { () throws(TransportError) in
            if head == nil, let last { try begin(last) }
            guard let head, let receiver else {
                throw TransportError(.connectionLost, detail: "no answer")
            }
            if TransportRedirects.isRedirect(head) {
                throw TransportError(.redirectRefused, detail: "a target that cannot be followed")
            }
            let lengths = TransportRequest.bodyLengths(of: head, to: method)
            guard lengths.allSatisfy({ $0 == count }) else {
                let announced = head.headerFields[.contentLength] ?? ""
                throw TransportError(
                    .connectionLost, detail: "\(count) body bytes of \(announced)")
            }
            return receiver.transfer(head)
        }
    }

    /// Ends the exchange with the platform's error.
    package func fail(platformCode: Int, detail: String, bodyBytesSent: Int64) {
        settle { () throws(TransportError) in
            // Once some of the body was sent, the request may have arrived, whatever the last
            // connection attempt reported.
            let code = TransportFailures.code(platformCode, sent: bodyBytesSent > 0)
            throw failure(TransportError(code, detail: detail))
        }
    }

    /// Ends the exchange with an error, or from this side: because of the deadline, cancellation or
    /// a file.
    package func fail(_ error: TransportError) {
        settle { () throws(TransportError) in throw failure(error) }
    }

    /// The error as it is after redirects: the server has then seen the request.
    private func failure(_ error: TransportError) -> TransportError {
        guard redirects > 0, error.code == .offline else { return error }
        return TransportError(.connectionLost, detail: error.detail)
    }

    /// How many bytes of the body have come.
    private var count: Int { receiver?.count ?? 0 }

    private func begin(_ head: HTTPResponse) throws(TransportError) {
        self.head = head
        let lengths = TransportRequest.bodyLengths(of: head, to: method)
        let length = lengths.compactMap(\.self).max() ?? 0
        // The file is as it was where the answer can't be taken at all.
        guard length <= limits.responseBytesMax else { throw tooLarge }
        try receiver?.begin(head)
        try receiver?.check(length: length)
    }

    private var tooLarge: TransportError {
        TransportError(.tooLarge, detail: "more than \(limits.responseBytesMax) body bytes")
    }

    /// Runs `step` unless the exchange has ended, and ends it when it throws or has an answer.
    private func settle(_ step: () throws(TransportError) -> TransportTransfer?) {
        let waiting: (CheckedContinuation<Outcome, Never>, Outcome)? = lock.withLock {
            guard outcome == nil else { return nil }
            let ended: Outcome
            do throws(TransportError) {
                guard let answer = try step() else { return nil }
                ended = .success(answer)
            } catch {
                ended = .failure(error)
            }
            outcome = ended
            receiver = nil
            defer { continuation = nil }
            return continuation.map { ($0, ended) }
        }
        if let (continuation, ended) = waiting { continuation.resume(returning: ended) }
    }
}
