// TransportFailures.swift — what the platform's error codes say about whether a request arrived.
//
// When in doubt it may have arrived. On Linux -1 stands for most things: half a body, an aborted
// chunk, an unreachable network, a failed TLS handshake.

package import TidemarkSync

/// The mapping from URLError codes.
package enum TransportFailures {
    /// Why there is no answer.
    ///
    /// - Parameters:
    ///   - platformCode: an URLError code.
    ///   - sent: true when something of the request is known to have left. Then a failed connection
    ///     does not mean that nothing arrived: Linux also reports -1004 when the first of a host's
    ///     addresses refused, the second took the request, and its connection broke. For a request
    ///     without a body nothing tells the two apart.
    package static func code(_ platformCode: Int, sent: Bool) -> TransportError.Code {
        switch platformCode {
        case notConnected, cannotConnect, cannotFindHost, lookupFailed, tlsFailed:
            sent ? .connectionLost : .offline
        case timedOut: .timeout
        case cancelled: .cancelled
        default: .connectionLost
        }
    }

    // As numbers, because the constants of -1204 and below differ by one on Linux.
    private static let cancelled = -999
    private static let timedOut = -1001
    private static let cannotFindHost = -1003
    private static let cannotConnect = -1004
    private static let lookupFailed = -1006
    private static let notConnected = -1009
    /// No handshake, a certificate refused by either side: no request is answered before that.
    private static let tlsFailed = -1206 ... -1200
}
