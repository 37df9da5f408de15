// CapsuleReading.swift — a capsule's file, read.

import TidemarkReplay

enum CapsuleReading {
    static func capsule(at path: String) throws -> Capsule {
        throw ReplayMistake("\(path) is a file; capsules can't be read yet, name a store")
    }
}
