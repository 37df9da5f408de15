// TransportExchange+Call.swift — what every transport does alike: check, wait, give up in time.

import Dispatch
package import Foundation
package import HTTPTypes
package import TidemarkSync

extension TransportExchange {
    /// A request that may be sent, and the exchange that it is for.
    package struct Call: Sendable {
        /// The request with the header fields that the transport adds.
        package let request: HTTPRequest
        /// Where it goes first.
        package let url: URL
        package let exchange: TransportExchange
        private let file: TransportFile?
        private let end: DispatchTime

        /// Checks a request, and opens the file for its answer.
        ///
        /// - Throws: ``TransportError``: `cancelled`, `timeout`, `invalidRequest` or `file`.
        package init(
            _ request: HTTPRequest, body: TransportBody?, into file: TransportFile?,
            limits: TransportLimits
        ) throws(TransportError) {
            end = DispatchTime.now() + TransportRequest.interval(limits.deadline)
            guard !Task.isCancelled else { throw TransportError(.cancelled) }
            guard limits.deadline > .zero else { throw TransportError(.timeout) }
            url = try TransportRequest.url(of: request, bodyCount: body?.count)
            self.request = TransportRequest.completed(request, hasBody: body != nil)
            self.file = file
            exchange = TransportExchange(
                method: request.method, url: url, limits: limits,
                receiver: try TransportReceiver(into: file))
        }

        /// Calls `begin`, which sends the request, and waits for the first ending.
        ///
        /// The deadline and cancellation are endings.
        package func outcome(begin: @Sendable () -> Void) async -> Outcome {
            let timer = DispatchSource.makeTimerSource(queue: TransportExchange.deadlines)
            timer.schedule(deadline: end)
            timer.setEventHandler { [weak exchange] in exchange?.fail(TransportError(.timeout)) }
            timer.resume()
            defer { timer.cancel() }
            return await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in
                    if exchange.start(continuation) { begin() }
                }
            } onCancel: {
                exchange.fail(TransportError(.cancelled))
            }
        }

        /// How long it is until the deadline.
        package var timeLeft: Duration {
            let (end, now) = (end.uptimeNanoseconds, DispatchTime.now().uptimeNanoseconds)
            return .nanoseconds(Int64(clamping: end > now ? end - now : 0))
        }

        /// Whether the platform may still be at work after this ending, and is to be stopped.
        package func isUnfinished(after outcome: Outcome) -> Bool {
            switch outcome {
            case .success(let answer):
                file.map { TransportTransfer.isWithoutBody(answer.response, for: $0) } ?? false
            case .failure: true
            }
        }
    }

    /// Fires deadlines; it never waits for anything.
    private static let deadlines = DispatchQueue(label: "tidemark.transport.deadlines")
}
