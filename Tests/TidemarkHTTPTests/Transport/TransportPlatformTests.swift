// TransportPlatformTests.swift — what URLSession on Linux gets wrong below the transport.
//
// Each is a known issue; a toolchain that mends one makes its test fail, so that it can go.

#if os(Linux)
    import Foundation
    import HTTPTypes
    import Testing
    import TidemarkHTTP
    import TidemarkSync

    @Suite struct `URLSession on Linux` {
        // swift-corelibs-foundation 5285.
        @Test func `a connection closed within the header fields ends the process`() async {
            await withKnownIssue {
                await #expect(processExitsWith: .success) {
                    let server = try RawServer { connection in
                        _ = connection.readRequest()
                        connection.write("HTTP/1.1 200 OK\r\nETa")
                    }
                    _ = await URLSessionTransport().failure(server.request())
                }
            }
        }

        @Test func `a length of nine exabytes ends the process`() async {
            await withKnownIssue {
                await #expect(processExitsWith: .success) {
                    let server = try RawServer.answering { _ in
                        "HTTP/1.1 200 OK\r\nContent-Length: 9223372036854775807\r\n\r\n"
                    }
                    _ = await URLSessionTransport().failure(server.request())
                }
            }
        }
    }
#endif
