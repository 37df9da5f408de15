// URLSessionTransport.swift — the transport that apps use: a strict URLSession.
//
// Only this file uses the session's types. One delegate serves every task of the session, because
// delegates of single tasks are never called on Linux. TransportRequest, TransportRedirects and
// TransportFailures decide what is allowed; TransportExchange decides which ending comes first.

import Dispatch
import Foundation
public import HTTPTypes
import HTTPTypesFoundation
public import TidemarkSync

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Sends requests with `URLSession`: no cookies, no cache, no stored credentials.
///
/// Redirects are followed for GET and HEAD only, within one origin, five times at most. The
/// platform adds `Host`, `Connection`, `Accept`, `Accept-Language` and `User-Agent` where the
/// request names none; the transport adds `Accept-Encoding: identity`, and to a body without a
/// `Content-Type` the type `application/octet-stream`.
///
/// On Linux, where `URLSession` is libcurl, more can't be done: a server that closes the connection
/// within the header fields ends the process (swift-corelibs-foundation 5285), a request without a
/// body may be sent twice when the server closes a reused connection, and memory is not bounded
/// against a server that floods the connection.
public final class URLSessionTransport: Transport {
    /// A request without a body may be sent twice.
    public var mayRepeat: Bool { true }

    private let session: URLSession
    private let exchanges = SessionExchanges()
    /// Fires deadlines and stops abandoned tasks; it never waits for the session.
    private let queue = DispatchQueue(label: "tidemark.transport")

    /// The instance behind `Transport.urlSession`.
    fileprivate static let shared = URLSessionTransport()

    /// A transport with its own session, and so with its own connections.
    public init() {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpCookieStorage = nil
        configuration.httpCookieAcceptPolicy = .never
        configuration.httpShouldSetCookies = false
        configuration.urlCache = nil
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        configuration.urlCredentialStorage = nil
        session = URLSession(configuration: configuration, delegate: exchanges, delegateQueue: nil)
    }

    deinit { session.finishTasksAndInvalidate() }

    /// Sends `request` and waits for the whole answer; any HTTP status is an answer.
    ///
    /// The size limit, the deadline and cancellation return at once; the connection is closed
    /// afterwards.
    public func send(
        _ request: HTTPRequest, body: [UInt8]?, limits: TransportLimits
    ) async throws(TransportError) -> TransportResponse {
        let end = DispatchTime.now() + TransportRequest.interval(limits.deadline)
        guard !Task.isCancelled else { throw TransportError(.cancelled) }
        guard limits.deadline > .zero else { throw TransportError(.timeout) }
        let url = try TransportRequest.url(of: request, body: body)
        let urlRequest = try Self.urlRequest(request, body: body, limits: limits)

        let exchange = TransportExchange(method: request.method, url: url, limits: limits)
        let task = session.dataTask(with: urlRequest)
        exchanges.add(exchange, id: task.taskIdentifier)
        let timer = DispatchSource.makeTimerSource(queue: queue)
        timer.schedule(deadline: end)
        timer.setEventHandler { [weak exchange] in exchange?.fail(TransportError(.timeout)) }
        timer.resume()

        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                if exchange.start(continuation) { task.resume() }
            }
        } onCancel: {
            exchange.fail(TransportError(.cancelled))
        }

        timer.cancel()
        exchanges.remove(id: task.taskIdentifier)
        if case .failure = outcome { queue.async { task.cancel() } }
        return try outcome.get()
    }

    private static func urlRequest(
        _ request: HTTPRequest, body: [UInt8]?, limits: TransportLimits
    ) throws(TransportError) -> URLRequest {
        var request = request
        if request.headerFields[.acceptEncoding] == nil {
            request.headerFields[.acceptEncoding] = "identity"
        }
        if body != nil, request.headerFields[.contentType] == nil {
            request.headerFields[.contentType] = "application/octet-stream"
        }
        guard var urlRequest = URLRequest(httpRequest: request) else {
            throw TransportError(.invalidRequest, detail: "no URL request")
        }
        urlRequest.httpBody = body.map { Data($0) }
        urlRequest.httpShouldHandleCookies = false
        // The session's own timeout is idle time; it must not fire before the deadline.
        urlRequest.timeoutInterval = TransportRequest.seconds(limits.deadline) + 60
        return urlRequest
    }
}

extension Transport where Self == URLSessionTransport {
    /// The process-wide transport over `URLSession`.
    public static var urlSession: URLSessionTransport { .shared }
}

/// The session's delegate: passes events of a task to its exchange.
private final class SessionExchanges: NSObject, URLSessionDataDelegate, @unchecked Sendable {
    // @unchecked because: the table is only touched while `lock` is held.
    typealias Challenge = URLSession.AuthChallengeDisposition

    private let lock = NSLock()
    private var table: [Int: TransportExchange] = [:]

    func add(_ exchange: TransportExchange, id: Int) { lock.withLock { table[id] = exchange } }

    func remove(id: Int) { lock.withLock { table[id] = nil } }

    private func exchange(of task: URLSessionTask) -> TransportExchange? {
        lock.withLock { table[task.taskIdentifier] }
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        exchange(of: dataTask)?.receive(head: (response as? HTTPURLResponse)?.httpResponse)
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        exchange(of: dataTask)?.receive(body: data)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse, newRequest: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        // A call back for a task that was cancelled in between ends the process on Linux. The
        // exchange therefore calls back under its lock, or not at all.
        exchange(of: task)?.redirect(to: response.value(forHTTPHeaderField: "Location")) { url in
            var request = task.originalRequest
            request?.url = url
            completionHandler(url == nil ? nil : request)
        }
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (Challenge, URLCredential?) -> Void
    ) {
        // No password is ever offered, so a 401 is an answer.
        #if canImport(FoundationNetworking)
            // Linux asks for passwords only, after the whole answer has come, and then withholds
            // the answer.
            let response = challenge.failureResponse as? HTTPURLResponse
            exchange(of: task)?.complete(head: response?.httpResponse)
            completionHandler(.cancelAuthenticationChallenge, nil)
        #else
            // The platform checks the server's certificate; other challenges are rejected, and the
            // answer comes.
            let isTLS =
                challenge.protectionSpace.authenticationMethod
                == NSURLAuthenticationMethodServerTrust
            completionHandler(isTLS ? .performDefaultHandling : .rejectProtectionSpace, nil)
        #endif
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?
    ) {
        guard let exchange = exchange(of: task) else { return }
        if let error {
            let code = (error as? URLError)?.errorCode ?? (error as NSError).code
            let detail = "URLError \(code): \(error.localizedDescription)"
            exchange.fail(
                platformCode: code, detail: detail, bodyBytesSent: task.countOfBytesSent)
        } else {
            exchange.complete(head: (task.response as? HTTPURLResponse)?.httpResponse)
        }
    }
}
