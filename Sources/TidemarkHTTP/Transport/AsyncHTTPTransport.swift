// AsyncHTTPTransport.swift — the transport over AsyncHTTPClient, for servers and Linux.
//
// Only this file uses its types, and only with the package trait AsyncHTTP is it there. What is
// allowed, and which ending comes first, is decided as for URLSession.

#if AsyncHTTP
    import AsyncHTTPClient
    import Foundation
    public import HTTPTypes
    import NIOCore
    import NIOHTTP1
    import NIOHTTPCompression
    import NIOPosix
    import Synchronization
    import TidemarkStore
    public import TidemarkSync

    /// Sends requests with AsyncHTTPClient, which reads and sends no faster than files are.
    ///
    /// Redirects are followed for GET and HEAD only, within one origin, five times at most; for
    /// PROPFIND to the same address with a slash at its end. There are no cookies and no cache, and
    /// no request is sent twice. The transport adds `Accept-Encoding: identity`, and to a body
    /// without a `Content-Type` the type `application/octet-stream`. It speaks HTTP/1.1.
    ///
    /// It is there where the package's trait `AsyncHTTP` is enabled.
    public final class AsyncHTTPTransport: Transport {
        private let client: HTTPClient

        /// A transport with connections of its own.
        public init() {
            var configuration = HTTPClient.Configuration()
            configuration.redirectConfiguration = .disallow
            configuration.decompression = .enabled(limit: .none)
            configuration.httpVersion = .http1Only
            // The deadline of the whole exchange is the only one.
            configuration.timeout.connect = .hours(24 * 365)
            configuration.timeout.read = nil
            configuration.timeout.write = nil
            configuration.connectionPool.retryConnectionEstablishment = false
            // A request that waited for a connection would use up its time meanwhile.
            configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit =
                TransportExchange.connectionsMax
            // Not `.singleton`: on Apple's systems that is Network.framework, with other errors.
            client = HTTPClient(
                eventLoopGroupProvider: .shared(MultiThreadedEventLoopGroup.singleton),
                configuration: configuration)
        }

        deinit { client.shutdown { _ in } }

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
        /// The size limit, the deadline, cancellation and a file that can't be used return at
        /// once; the file gets nothing afterwards. A request has a `Content-Length`.
        public func transfer(
            _ request: HTTPRequest, body: TransportBody?, into file: TransportFile?,
            limits: TransportLimits
        ) async throws(TransportError) -> TransportTransfer {
            let call = try TransportExchange.Call(request, body: body, into: file, limits: limits)
            let prepared = try Self.request(call, body: body)
            let running = Mutex<Task<Void, Never>?>(nil)

            let outcome = await call.outcome {
                let task = Task { await self.run(prepared, exchange: call.exchange) }
                running.withLock { $0 = task }
            }

            if call.isUnfinished(after: outcome) { running.withLock { $0?.cancel() } }
            return try outcome.get()
        }

        private static func request(
            _ call: TransportExchange.Call, body: TransportBody?
        ) throws(TransportError) -> HTTPClientRequest {
            var request = HTTPClientRequest(url: call.url.absoluteString)
            request.method = HTTPMethod(rawValue: call.request.method.rawValue)
            for field in call.request.headerFields {
                request.headers.add(name: field.name.rawName, value: field.value)
            }
            switch body {
            case .bytes(let bytes): request.body = .bytes(ByteBuffer(bytes: bytes))
            case .file, .framed:
                guard let part = try body?.part() else { break }
                let parts = FileParts(part: part, exchange: call.exchange)
                request.body = .stream(parts, length: .known(Int64(part.count)))
            case nil: break
            }
            return request
        }

        /// Sends a request and its redirects, and reports to the exchange.
        private func run(_ first: HTTPClientRequest, exchange: TransportExchange) async {
            var request = first
            do {
                while true {
                    let answer = try await client.execute(request, deadline: .distantFuture)
                    let head = HTTPResponse(answer)
                    guard TransportRedirects.isRedirect(head) else {
                        exchange.receive(head: head)
                        for try await part in answer.body {
                            exchange.receive(body: [UInt8](buffer: part))
                            try Task.checkCancellation()
                        }
                        return exchange.complete(head: nil)
                    }
                    var target: URL?
                    exchange.redirect(to: head.headerFields[.location]) { target = $0 }
                    guard let target else { return }
                    request.url = target.absoluteString
                }
            } catch { exchange.fail(TransportError(error)) }
        }
    }

    /// A part of a file as it is asked for.
    private struct FileParts: AsyncSequence, Sendable {
        let part: PartReader
        let exchange: TransportExchange

        struct Iterator: AsyncIteratorProtocol {
            private static let bytesMax = 64 << 10
            var part: PartReader
            let exchange: TransportExchange

            mutating func next() async throws -> ByteBuffer? {
                do throws(StoreError) {
                    let bytes = try part.next(Self.bytesMax)
                    return bytes.isEmpty ? nil : ByteBuffer(bytes: bytes)
                } catch {
                    exchange.fail(TransportError(error))
                    throw error
                }
            }
        }

        func makeAsyncIterator() -> Iterator { Iterator(part: part, exchange: exchange) }
    }

    extension HTTPResponse {
        /// Status and header fields of an answer.
        fileprivate init(_ answer: HTTPClientResponse) {
            self.init(status: Status(code: Int(answer.status.code)))
            for (name, value) in answer.headers {
                guard let name = HTTPField.Name(name) else { continue }
                headerFields.append(HTTPField(name: name, value: value))
            }
        }
    }

    extension TransportError {
        /// What went wrong, by what is known of whether a connection was made.
        fileprivate init(_ error: any Error) {
            let code: Code
            switch error {
            case is CancellationError: code = .cancelled
            case is NIOConnectionError: code = .offline
            // Only a connection that is being made is refused.
            case let error as IOError where error.errnoCode == ECONNREFUSED: code = .offline
            case let error as HTTPClientError: code = error.transportCode
            default: code = .connectionLost
            }
            self.init(code, detail: (error as? NIOConnectionError)?.detail ?? "\(error)")
        }
    }

    extension NIOConnectionError {
        /// What went wrong, without the server's name, port and addresses, which its description
        /// has for each attempt.
        fileprivate var detail: String {
            let lookups = [dnsAError, dnsAAAAError].compactMap { $0 }
            var said: [String] = []
            for error in connectionErrors.map(\.error) + lookups {
                let words = "\(error)"
                let place = [" for host ", "(host: "].compactMap { words.firstRange(of: $0) }.first
                let plain = String(words[..<(place?.lowerBound ?? words.endIndex)])
                if !said.contains(plain) { said.append(plain) }
            }
            return said.isEmpty ? "no connection was made" : said.joined(separator: ", ")
        }
    }

    extension HTTPClientError {
        fileprivate var transportCode: TransportError.Code {
            switch self {
            case .connectTimeout, .tlsHandshakeTimeout, .getConnectionFromPoolTimeout: .offline
            case .cancelled: .cancelled
            case .invalidURL, .emptyHost, .emptyScheme, .traceRequestWithBody: .invalidRequest
            default: .connectionLost
            }
        }
    }
#endif
