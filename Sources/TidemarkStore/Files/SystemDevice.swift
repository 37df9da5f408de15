// SystemDevice.swift — what the system tells of this device and of its current start.

import CLMDB

/// The device, in the words of its system; nil where it does not say.
package enum SystemDevice {
    /// Names the start since which the device runs, as Darwin does; no clock has a part in it.
    package static var bootSession: String? {
        var bytes = [UInt8](repeating: 0, count: 64)
        let number = unsafe bytes.withUnsafeMutableBytes { buffer in
            unsafe tidemark_boot_session(buffer.baseAddress, buffer.count)
        }
        guard number == 0 else { return nil }
        return String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }

    /// The 16 bytes by which a Mac is told from others; other systems have none for an app.
    package static var hostID: [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: 16)
        let number = unsafe bytes.withUnsafeMutableBytes { buffer in
            unsafe tidemark_host_id(buffer.baseAddress)
        }
        return number == 0 ? bytes : nil
    }
}
