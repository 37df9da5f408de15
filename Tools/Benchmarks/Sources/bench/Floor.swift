// Floor.swift — the lower bound: LMDB called directly, with the same bytes in the same trees.

import CFloor
import Foundation

/// An environment with some trees; an error of LMDB ends the run.
final class Floor {
    private var environment: OpaquePointer?
    private var trees: [MDB_dbi] = []

    init(_ directory: String, trees names: [String]) {
        try? FileManager.default.createDirectory(
            atPath: directory, withIntermediateDirectories: true)
        check(mdb_env_create(&environment))
        check(mdb_env_set_maxdbs(environment, 16))
        check(mdb_env_set_mapsize(environment, 16 << 30))
        check(mdb_env_open(environment, directory, UInt32(MDB_NOTLS), 0o600))
        var transaction: OpaquePointer?
        check(mdb_txn_begin(environment, nil, 0, &transaction))
        for name in names {
            var tree: MDB_dbi = 0
            check(mdb_dbi_open(transaction, name, UInt32(MDB_CREATE), &tree))
            trees.append(tree)
        }
        check(mdb_txn_commit(transaction))
    }

    func close() { mdb_env_close(environment) }

    /// Runs `body` in one durable transaction.
    func commit(_ body: (OpaquePointer?) -> Void) {
        var transaction: OpaquePointer?
        check(mdb_txn_begin(environment, nil, 0, &transaction))
        body(transaction)
        check(mdb_txn_commit(transaction))
    }

    func put(
        _ transaction: OpaquePointer?, _ tree: Int, _ key: [UInt8], _ value: [UInt8], append: Bool
    ) {
        key.withUnsafeBytes { keyBytes in
            value.withUnsafeBytes { valueBytes in
                var name = MDB_val(
                    mv_size: keyBytes.count,
                    mv_data: UnsafeMutableRawPointer(mutating: keyBytes.baseAddress))
                var stored = MDB_val(
                    mv_size: valueBytes.count,
                    mv_data: UnsafeMutableRawPointer(mutating: valueBytes.baseAddress))
                check(
                    mdb_put(
                        transaction, trees[tree], &name, &stored, append ? UInt32(MDB_APPEND) : 0))
            }
        }
    }

    private func check(_ code: Int32) {
        guard code == 0 else { fatalError("LMDB: \(String(cString: mdb_strerror(code)))") }
    }

    /// Eight bytes, big-endian.
    static func key(_ number: Int) -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * $0)) }
    }
}
