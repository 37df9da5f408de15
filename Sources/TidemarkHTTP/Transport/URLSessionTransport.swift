// URLSessionTransport.swift — the transport that apps use: a strict URLSession.
//
// Only this file and URLSessionFields.swift use the session's types. One delegate serves every task
// of the session, because delegates of single tasks are never called on Linux. TransportRequest,
// TransportRedirects and TransportFailures decide what is allowed; TransportExchange decides which
// ending comes first.

import Dispatch
import Foundation
public import HTTPTypes
import HTTPTypesFoundation
import TidemarkStore
public import TidemarkSync

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Sends requests with `URLSession`: no cookies, no cache, no stored credentials.
///
/// Redirects are followed for GET and HEAD only, within one origin, five times at most; for
/// PROPFIND to the same address with a slash at its end. The platform adds `Host`,
/// `Connection`, `Accept`, `Accept-Language` and `User-Agent` where the request names none; the
/// transport adds `Accept-Encoding: identity`, and to a body without a `Content-Type` the type
/// `application/octet-stream`.
///
/// On Linux, where `URLSession` is libcurl, more can't be done: a server that closes the connection
/// within the header fields ends the process (swift-corelibs-foundation 5285), a request without a
/// body may be sent twice when the server closes a reused connection, one with a body is begun
/// again there, but not sent to its end, and all requests of a transport wait while one of them
/// writes to a slow disk.
public final class URLSessionTransport: Transport {
    /// A request without a body may be sent twice.
    public var mayRepeat: Bool { true }

    private let session: URLSession
    private let exchanges = SessionExchanges()
    /// Stops abandoned tasks.
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
        // A request that waited for a connection would use up its time meanwhile.
        configuration.httpMaximumConnectionsPerHost = TransportExchange.connectionsMax
        #if canImport(FoundationNetworking)
            let delegateQueue: OperationQueue? = BoundedQueue(callsMax: 64)
        #else
            let delegateQueue: OperationQueue? = nil
        #endif
        session = URLSession(
            configuration: configuration, delegate: exchanges, delegateQueue: delegateQueue)
    }

    deinit { session.finishTasksAndInvalidate() }

    /// Sends `request` and waits for the whole answer; any HTTP status is an answer.
    ///
    /// The size limit, the deadline and cancellation return at once; the connection is closed
    /// afterwards.
    public func send(
        _ request: HTTPRequest, body: [UInt8]?, limits: TransportLimits
    ) async throws(TransportError) -> TransportResponse {
        let answer = try await transfer(
            request, body: body.map { .bytes($0) }, into: nil, limits: limits)
        return TransportResponse(response: answer.response, body: answer.body)
    }

    /// Sends and receives bodies that may lie in files, as they come.
    ///
    /// The size limit, the deadline, cancellation and a file that can't be used return at once;
    /// the file gets nothing afterwards. A request has a `Content-Length`.
    public func transfer(
        _ request: HTTPRequest, body: TransportBody?, into file: TransportFile?,
        limits: TransportLimits
    ) async throws(TransportError) -> TransportTransfer {
        let call = try TransportExchange.Call(request, body: body, into: file, limits: limits)
        let task = try dataTask(call, body: body, limits: limits)
        exchanges.add(call.exchange, id: task.taskIdentifier)

        let outcome = await call.outcome { task.resume() }

        let isMoved = exchanges.remove(id: task.taskIdentifier)
        if call.isUnfinished(after: outcome) { queue.async { task.cancel() } }
        if isMoved, let path = request.path, case .failure(let error) = outcome,
            error.code == .redirectRefused
        {
            var (next, limits) = (request, limits)
            next.path = path + "/"
            limits.deadline = call.timeLeft
            return try await transfer(next, body: body, into: file, limits: limits)
        }
        return try outcome.get()
    }

    private func dataTask(
        _ call: TransportExchange.Call, body: TransportBody?, limits: TransportLimits
    ) throws(TransportError) -> URLSessionTask {
        guard var request = URLRequest(exact: call.request) else {
            throw TransportError(.invalidRequest, detail: "no URL request")
        }
        request.httpShouldHandleCookies = false
        // The session's own timeout is idle time; it must not fire before the deadline.
        request.timeoutInterval = TransportRequest.seconds(limits.deadline) + 60
        guard let body else { return session.dataTask(with: request) }
        if body.count > 0, let part = try body.part() {
            return try uploadTask(request, of: body, part, exchange: call.exchange)
        }
        request.httpBody = Data(try body.bytes())
        return session.dataTask(with: request)
    }

    #if canImport(FoundationNetworking)
        /// A task that reads its body from a stream.
        ///
        /// Linux would send one in chunks and ask first whether it may; blank values take the
        /// fields for both away. Its tasks for files send some 40 KB at a time, five times slower.
        private func uploadTask(
            _ request: URLRequest, of body: TransportBody, _ part: PartReader,
            exchange: TransportExchange
        ) throws(TransportError) -> URLSessionTask {
            var request = request
            request.setValue("\(part.count)", forHTTPHeaderField: "Content-Length")
            request.setValue(" ", forHTTPHeaderField: "Transfer-Encoding")
            request.setValue(" ", forHTTPHeaderField: "Expect")
            request.httpBodyStream = PartStream(part) { [weak exchange] error in
                exchange?.fail(TransportError(error))
            }
            return session.dataTask(with: request)
        }
    #else
        /// A task that reads its body from the file, where it is the whole of it, or from a copy,
        /// which goes when the exchange has ended; what is short is read into memory.
        private func uploadTask(
            _ request: URLRequest, of body: TransportBody, _ part: PartReader,
            exchange: TransportExchange
        ) throws(TransportError) -> URLSessionTask {
            let source = UploadSource(of: body) { path in
                try? URL(filePath: path).resourceValues(forKeys: [.fileSizeKey]).fileSize
            }
            let task: URLSessionTask
            switch source {
            case .file(let path):
                task = session.uploadTask(with: request, fromFile: URL(filePath: path))
            case .copy:
                let copy = try UploadCopy(part, in: FileManager.default.temporaryDirectory)
                task = session.uploadTask(with: request, fromFile: copy.url)
                exchanges.keep(copy, id: task.taskIdentifier)
            case .memory:
                var rest = part
                rest.onRead = nil
                task = session.uploadTask(with: request, from: Data(try rest.bytes()))
            }
            exchanges.watch(part.onSent, id: task.taskIdentifier)
            return task
        }
    #endif
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
    /// The tasks that were redirected to the same address with a slash at its end.
    private var moved: Set<Int> = []
    /// Copies that tasks read their bodies from.
    private var copies: [Int: UploadCopy] = [:]

    /// What is told how many bytes of a task's body were sent.
    private var watches: [Int: @Sendable (Int) -> Void] = [:]

    func keep(_ copy: UploadCopy, id: Int) { lock.withLock { copies[id] = copy } }

    func watch(_ onSent: (@Sendable (Int) -> Void)?, id: Int) {
        lock.withLock { watches[id] = onSent }
    }

    func add(_ exchange: TransportExchange, id: Int) { lock.withLock { table[id] = exchange } }

    /// - Returns: whether the same is to be sent to the address with a slash at its end.
    func remove(id: Int) -> Bool {
        lock.withLock {
            table[id] = nil
            copies[id] = nil
            watches[id] = nil
            return moved.remove(id) != nil
        }
    }

    private func exchange(of task: URLSessionTask) -> TransportExchange? {
        lock.withLock { table[task.taskIdentifier] }
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        exchange(of: dataTask)?.receive(head: (response as? HTTPURLResponse)?.exactResponse)
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        exchange(of: dataTask)?.receive(body: [UInt8](data))
    }

    #if !canImport(FoundationNetworking)
        // Linux reads the body by the stream, which tells.
        func urlSession(
            _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64,
            totalBytesSent: Int64, totalBytesExpectedToSend: Int64
        ) {
            let watch = lock.withLock { watches[task.taskIdentifier] }
            watch?(Int(clamping: totalBytesSent))
        }
    #endif

    func urlSession(
        _ session: URLSession, task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        // A reused connection closed, and the platform sends the request again on another one, with
        // what is left of its body.
        exchange(of: task)?.fail(
            TransportError(.connectionLost, detail: "closed while the body was sent"))
        completionHandler(nil)
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
            if url != nil, request?.httpMethod == "PROPFIND" {
                // Linux would send no body with it; another task does.
                _ = self.lock.withLock { self.moved.insert(task.taskIdentifier) }
                return completionHandler(nil)
            }
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
            exchange(of: task)?.complete(head: response?.exactResponse)
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
            exchange.complete(head: (task.response as? HTTPURLResponse)?.exactResponse)
        }
    }
}
