// The signatures of androidx.browser that the sample uses, as App.kt.

@file:Suppress("UNUSED_PARAMETER")

package androidx.browser.customtabs

import android.content.Context
import android.content.Intent
import android.net.Uri

object CustomTabsClient {
  fun getPackageName(context: Context, packages: List<String>?): String? = null
}

class CustomTabsIntent {
  val intent = Intent()
  fun launchUrl(context: Context, url: Uri) {}

  class Builder {
    fun setShowTitle(showTitle: Boolean): Builder = this
    fun build() = CustomTabsIntent()
  }
}
