// TransportDescriptorTests.swift — no descriptors are left behind.

#if os(Linux)
    import Foundation
    import HTTPTypes
    import Testing
    import TidemarkHTTP
    import TidemarkSync

    @Suite struct `transport descriptors` {
        // In a process of its own, because other tests open and close descriptors meanwhile.
        @Test func `three hundred requests in a row leak none`() async {
            await #expect(processExitsWith: .success) {
                let server = try RawServer.answering { request in
                    request.target.hasSuffix("0")
                        ? answer("200 OK", ["Connection: close"], body: "x") : answer(body: "x")
                }
                let transport = TestedTransport()
                func descriptors() throws -> Int {
                    try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
                }

                for index in 0..<20 {
                    _ = try await transport.send(server.request(.get, "/\(index)"))
                }
                let before = try descriptors()
                for index in 0..<300 {
                    _ = try await transport.send(server.request(.get, "/\(index)"))
                }

                #expect(server.requests.count == 320)
                let after = try descriptors()
                #expect(after <= before + 4)
            }
        }
    }
#endif
