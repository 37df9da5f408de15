// Dhis2Jobs.swift — imports that are answered before they are done.
//
// A job is done at once unless the model lets it wait for requests or for time. Whoever asks for a
// job that nobody knows gets an empty list; only its report is missing.

import TidemarkEvents
import TidemarkSync

/// An import that was promised.
struct Dhis2Job: Sendable {
    var id: String
    var payload: JSONObject
    var options: Dhis2TrackerOptions
    var at: Timestamp
    /// How often somebody asked for it.
    var polls = 0
    /// When it was done, and its report; nil while it waits.
    var doneAt: Timestamp?
    var report: Dhis2Report?

    init(id: String, payload: JSONObject, options: Dhis2TrackerOptions, at: Timestamp) {
        self.id = id
        self.payload = payload
        self.options = options
        self.at = at
    }
}

extension Dhis2ServerModel {
    /// Promises an import, with the address of its job.
    mutating func start(_ job: Dhis2Job) -> TransportResponse {
        jobs.append(job)
        runDueJobs(job.at)
        var object = Dhis2Reply.message(200, "OK", "Tracker job added")
        object["response"] = [
            "responseType": "TrackerJob", "id": .string(job.id),
            "location": .string("http://127.0.0.1/api/tracker/jobs/\(job.id)"),
        ]
        return Dhis2Reply.json(200, .object(object))
    }

    /// Carries out what has waited for long enough.
    mutating func runDueJobs(_ now: Timestamp) {
        for index in jobs.indices where jobs[index].report == nil {
            let job = jobs[index]
            guard job.polls >= jobPolls, now >= job.at.adding(seconds: jobSeconds) else { continue }
            run(index, now)
        }
    }

    mutating func run(_ index: Int, _ now: Timestamp) {
        let job = jobs[index]
        let report = imported(job.payload, job.options, now)
        jobs[index].report = report
        jobs[index].doneAt = now
    }

    /// `GET tracker/jobs/{id}`: what happened, the last first.
    mutating func job(_ id: String, _ call: Dhis2Call) -> TransportResponse {
        guard let index = jobs.firstIndex(where: { $0.id == id }) else {
            return Dhis2Reply.json(200, [])
        }
        jobs[index].polls += 1
        let job = jobs[index]
        var messages = [message(job, "Running PreProcess", job.at, isDone: false)]
        if let report = job.report, let doneAt = job.doneAt {
            let stats = report.stats
            messages.insert(
                message(
                    job,
                    "Import complete with status \(report.status), \(stats.created) created, "
                        + "\(stats.updated) updated, \(stats.deleted) deleted, "
                        + "\(stats.ignored) ignored", doneAt, isDone: true), at: 0)
        }
        return Dhis2Reply.json(200, .array(messages))
    }

    private func message(
        _ job: Dhis2Job, _ text: String, _ at: Timestamp, isDone: Bool
    ) -> JSONValue {
        [
            "uid": .string(job.id), "level": "INFO", "category": "TRACKER_IMPORT_JOB",
            "time": .string(time.text(at)), "message": .string(text), "completed": .bool(isDone),
            "id": .string(job.id),
        ]
    }

    /// `GET tracker/jobs/{id}/report`: 200 with errors, too, and 404 until the job is done.
    func jobReport(_ id: String, _ call: Dhis2Call) throws(Dhis2Rejection) -> TransportResponse {
        guard let report = jobs.first(where: { $0.id == id })?.report else {
            throw Dhis2Rejection(404, "Summary for job \(id) does not exist", code: "E1005")
        }
        return Dhis2Reply.json(200, .object(report.json(try Self.reportMode(call.query))))
    }
}
