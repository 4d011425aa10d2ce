"""Names of months in languages of Europe, as Unicode's CLDR lists them, without accents.

A name that means different months in two languages (`listopad`) is left out.
"""

from __future__ import annotations

_NAMES = (
    "ene enero gen gener gennaio ian ianuarie jaan jaanuar jan janeiro januar januara januari january "
    "janv janvaris janvier led leden ledna oca ocak saus sausio sausis sij sijecanj sijecnja sty styczen "
    "stycznia tammi tammikuu tammikuuta ιαν ιανουαριοσ ιανουαριου січ січень січня янв январь января",
    "feb febbraio febr febrer febrero februar februara februari februarie februaris february fev "
    "fevereiro fevr fevrier helmi helmikuu helmikuuta lut lutego luty sub subat uno unor unora vas "
    "vasario vasaris veebr veebruar velj veljaca veljace φεβ φεβρουαριοσ φεβρουαριου лют лютии лютого "
    "февр февраль февраля",
    "bre brezen brezna kov kovas kovo maalis maaliskuu maaliskuuta maart mar marc marca march marcius "
    "marco marec maret mars mart martie marts marz marzec marzo mrt mrz ozu ozujak ozujka μαρ μαρτιοσ "
    "μαρτιου бер березень березня мар март марта",
    "abr abril apr april aprila aprile aprilie aprilis aprill avr avril bal balandis balandzio dub duben "
    "dubna huhti huhtikuu huhtikuuta kwi kwiecien kwietnia nis nisan tra travanj travnja απρ απριλιοσ "
    "απριλιου апр апрель апреля квіт квітень квітня",
    "geg geguze geguzes kve kveten kvetna mag maggio mai maig maijs maio maj maja majus may mayo mayıs "
    "mei svi svibanj svibnja touko toukokuu toukokuuta μαι μαιοσ μαιου маи мая трав травень травня",
    "birz birzelio birzelis cerven cervna cvn cze czerwca czerwiec giu giugno haz haziran iun iunie juin "
    "jun juna june junho juni junij junijs junio junius juny juuni kesa kesakuu kesakuuta lipanj lipnja "
    "ιουν ιουνιοσ ιουνιου июн июнь июня черв червень червня",
    "cervence cervenec cvc heina heinakuu heinakuuta iul iulie juil juillet jul jula julho juli julij "
    "julijs julio juliol julius july juuli liep liepa liepos lipca lipiec lug luglio srpanj srpnja tem "
    "temmuz ιουλ ιουλιοσ ιουλιου июл июль июля лип липень липня",
    "ago agost agosto agu agustos agustus aout aug august augusta augusti augusts augustus augusztus avg "
    "avgust elo elokuu elokuuta kol kolovoz kolovoza rugp rugpjucio rugpjutis sie sierpien sierpnia srpen "
    "srpna αυγ αυγουστοσ αυγουστου авг август августа серп серпень серпня",
    "eyl eylul rugs rugsejis rugsejo ruj rujan rujna sep sept september septembra septembre septembrie "
    "septembris septiembre set setembre setembro settembre syys syyskuu syyskuuta szept szeptember wrz "
    "wrzesien wrzesnia zar zari σεπ σεπτεμβριοσ σεπτεμβριου вер вересень вересня сент сентябрь сентября",
    "eki ekim loka lokakuu lokakuuta oct october octobre octombrie octubre okt oktober oktobra oktobris "
    "oktoober ott ottobre out outubro paz pazdziernik pazdziernika rij rijen rijna spal spalio spalis οκτ "
    "οκτωβριοσ οκτωβριου жовт жовтень жовтня окт октябрь октября",
    "kas kasım lapkr lapkricio lapkritis listopadu marras marraskuu marraskuuta noiembrie nov november "
    "novembra novembre novembris novembro noviembre stu studeni studenoga νοε νοεμβριοσ νοεμβριου лист "
    "листопад листопада нояб ноябрь ноября",
    "ara aralık dec december decembra decembre decembrie decembris des desember desembre dets detsember "
    "dez dezember dezembro dic dicembre diciembre gru grudnia grudzien gruod gruodis gruodzio joulu "
    "joulukuu joulukuuta pro prosinac prosinca prosince prosinec δεκ δεκεμβριοσ δεκεμβριου груд грудень "
    "грудня дек декабрь декабря",
)
"""The names of January, and so on."""
MONTHS = {name: number for number, names in enumerate(_NAMES, 1) for name in names.split()}
"""Name without accents, in lower case -> month."""
