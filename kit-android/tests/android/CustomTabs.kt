// The signatures of androidx.browser that the sample uses, as App.kt.

@file:Suppress("UNUSED_PARAMETER")

package androidx.browser.customtabs

import android.content.Context
import android.net.Uri

class CustomTabsIntent {
  fun launchUrl(context: Context, url: Uri) {}

  class Builder {
    fun setShowTitle(showTitle: Boolean): Builder = this
    fun build() = CustomTabsIntent()
  }
}
