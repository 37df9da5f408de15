// TransportFailures.swift — what the platform's error codes tell about whether a request arrived.
//
// When in doubt, it may have arrived. On Linux, -1 is the code for most errors: half a body, an
// aborted chunk, an unreachable network, a failed TLS handshake.

/// The mapping from URLError codes.
package enum TransportFailures {
    /// Why there is no answer.
    ///
    /// - Parameters:
    ///   - platformCode: an URLError code.
    ///   - sent: true when part of the request is known to have been sent. Then a failed connection
    ///     does not mean that nothing arrived: Linux also reports -1004 when the first of a host's
    ///     addresses refused, the second took the request, and its connection broke. For a request
    ///     without a body, nothing tells the two cases apart.
    package static func code(_ platformCode: Int, sent: Bool) -> TransportError.Code {
        if platformCode == cancelled { return .cancelled }
        let code = ofNetwork(platformCode) ?? .connectionLost
        return sent && code == .offline ? .connectionLost : code
    }

    /// The same of an error that an app got; nil where the app may have made it itself, as for an
    /// answer that it has no use for.
    package static func ofNetwork(_ platformCode: Int) -> TransportError.Code? {
        switch platformCode {
        case notConnected, cannotConnect, cannotFindHost, lookupFailed, tlsFailed, notAllowed,
            insecure:
            .offline
        case timedOut: .timeout
        case broken, unknown: .connectionLost
        default: nil
        }
    }

    // Numbers, because the constants of -1204 and below differ by one on Linux.
    private static let unknown = -1
    private static let cancelled = -999
    private static let timedOut = -1001
    private static let cannotFindHost = -1003
    private static let cannotConnect = -1004
    private static let broken = -1005
    private static let lookupFailed = -1006
    private static let notConnected = -1009
    /// The app's Info.plist allows no `http` (App Transport Security): nothing was sent.
    private static let insecure = -1022
    /// Abroad, during a call, or where the user wants no mobile data.
    private static let notAllowed = -1020 ... -1018
    /// The TLS handshake failed, or either side refused a certificate: no request was sent before
    /// that.
    private static let tlsFailed = -1206 ... -1200
}
