// As App.kt.

@file:Suppress("UNUSED_PARAMETER")

package android.app.job

import android.app.Service
import android.content.ComponentName

open class JobParameters

abstract class JobService : Service() {
  abstract fun onStartJob(params: JobParameters): Boolean
  abstract fun onStopJob(params: JobParameters): Boolean
  fun jobFinished(params: JobParameters, wantsReschedule: Boolean) {}
}

open class JobInfo {
  class Builder(jobId: Int, jobService: ComponentName) {
    fun setRequiredNetworkType(networkType: Int): Builder = this
    fun setBackoffCriteria(initialBackoffMillis: Long, backoffPolicy: Int): Builder = this
    fun build(): JobInfo = JobInfo()
  }

  companion object {
    const val NETWORK_TYPE_ANY = 1
    const val BACKOFF_POLICY_EXPONENTIAL = 1
  }
}

abstract class JobScheduler {
  abstract fun schedule(job: JobInfo): Int
}
