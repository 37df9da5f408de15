// TransportExchange.swift — one request in flight: the first ending decides the outcome.
//
// The session's delegate, the deadline's timer and the cancelling task all report here, from any
// thread. After the first ending everything else is ignored.

package import Foundation
package import HTTPTypes
package import TidemarkSync

/// Collects one answer within its limits and hands the outcome over exactly once.
package final class TransportExchange: @unchecked Sendable {
    // @unchecked because: every variable is only touched while `lock` is held.
    /// The answer, or why there is none.
    package typealias Outcome = Result<TransportResponse, TransportError>

    private let lock = NSLock()
    private let method: HTTPRequest.Method
    private let limits: TransportLimits
    private var url: URL
    private var redirects = 0
    private var head: HTTPResponse?
    private var body: [UInt8] = []
    private var outcome: Outcome?
    private var continuation: CheckedContinuation<Outcome, Never>?

    /// An exchange that has not begun; `url` is where the request goes first.
    package init(method: HTTPRequest.Method, url: URL, limits: TransportLimits) {
        self.method = method
        self.url = url
        self.limits = limits
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

    /// Takes status and header fields; an announced length over the limit ends the exchange.
    package func receive(head: HTTPResponse?) {
        settle {
            self.head = head
            let lengths = head.map { TransportRequest.bodyLengths(of: $0, to: method) } ?? []
            let isTooLarge = lengths.contains { ($0 ?? 0) > limits.responseBytesMax }
            return isTooLarge ? tooLarge : nil
        }
    }

    /// Takes the next bytes of the body; one byte over the limit ends the exchange.
    package func receive(body bytes: Data) {
        settle {
            guard bytes.count <= limits.responseBytesMax - body.count else { return tooLarge }
            body.append(contentsOf: bytes)
            return nil
        }
    }

    /// Follows or refuses a redirect.
    ///
    /// `follow` gets the target, or nil when it is refused. It is called while the exchange cannot
    /// end, and not at all when it has ended: a task is stopped only after that.
    package func redirect(to location: String?, follow: (URL?) -> Void) {
        settle {
            do throws(TransportError) {
                url = try TransportRedirects.target(
                    location: location, from: url, method: method, followed: redirects)
            } catch {
                follow(nil)
                return .failure(error)
            }
            redirects += 1
            head = nil
            body = []
            follow(url)
            return nil
        }
    }

    /// Ends the exchange when the platform reports the answer as complete.
    package func complete(head last: HTTPResponse?) {
        settle {
            guard let head = head ?? last else {
                return .failure(TransportError(.connectionLost, detail: "no answer"))
            }
            if TransportRedirects.isRedirect(head) {
                return .failure(
                    TransportError(.redirectRefused, detail: "a target that cannot be followed"))
            }
            let lengths = TransportRequest.bodyLengths(of: head, to: method)
            guard lengths.allSatisfy({ $0 == body.count }) else {
                let detail =
                    "\(body.count) body bytes of \(head.headerFields[.contentLength] ?? "")"
                return .failure(TransportError(.connectionLost, detail: detail))
            }
            return .success(TransportResponse(response: head, body: body))
        }
    }

    /// Ends the exchange with the platform's error.
    package func fail(platformCode: Int, detail: String, bodyBytesSent: Int64) {
        settle {
            // After a redirect, or once some of the body was sent, the request may have arrived,
            // whatever the last connection attempt reported.
            let sent = redirects > 0 || bodyBytesSent > 0
            let code = TransportFailures.code(platformCode, sent: sent)
            return .failure(TransportError(code, detail: detail))
        }
    }

    /// Ends the exchange from this side: because of the deadline or cancellation.
    package func fail(_ error: TransportError) {
        settle { .failure(error) }
    }

    private var tooLarge: Outcome {
        .failure(
            TransportError(.tooLarge, detail: "more than \(limits.responseBytesMax) body bytes"))
    }

    /// Runs `step` unless the exchange has ended, and ends it when the step has an outcome.
    private func settle(_ step: () -> Outcome?) {
        let waiting: (CheckedContinuation<Outcome, Never>, Outcome)? = lock.withLock {
            guard outcome == nil, let ended = step() else { return nil }
            outcome = ended
            body = []
            defer { continuation = nil }
            return continuation.map { ($0, ended) }
        }
        if let (continuation, ended) = waiting { continuation.resume(returning: ended) }
    }
}
